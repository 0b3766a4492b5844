// The emulated GPU's graphs: captured work isn't done, launched work is done in order and late, and what the
// manual refuses is refused.
#include <gtest/gtest.h>

#include <thread>

#include "emulated.h"

namespace emulated {
namespace {

__global__ void add(int* to, int by) {
  *to += by;
}
__global__ void twice(int* to) {
  *to *= 2;
}

class EmulatedGraph : public testing::Test {
 protected:
  EmulatedGraph() {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    cudaMalloc(&data_, sizeof(int));
    cudaMemset(data_, 0, sizeof(int));
  }
  ~EmulatedGraph() override {
    if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    cudaStreamDestroy(stream_);
    cudaFree(data_);
  }
  cudaLaunchConfig_t config() const {
    cudaLaunchConfig_t config;
    config.stream = stream_;
    return config;
  }
  int* number() const { return static_cast<int*>(data_); }
  void begin() { EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess); }
  cudaGraphNode_t last_node() {
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
    cudaStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &nodes, nullptr, &count);
    return count == 1 ? nodes[0] : nullptr;
  }
  /// number = (number + by) · 2; returns the node of the sum.
  cudaGraphNode_t capture(int by, cudaGraph_t* graph) {
    begin();
    const cudaLaunchConfig_t where = config();
    EXPECT_EQ(cudaLaunchKernelEx(&where, &add, number(), by), cudaSuccess);
    cudaGraphNode_t const node = last_node();
    EXPECT_EQ(cudaLaunchKernelEx(&where, &twice, number()), cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(stream_, graph), cudaSuccess);
    return node;
  }
  int value() {
    cudaStreamSynchronize(stream_);
    int value = 0;
    cudaMemcpy(&value, data_, sizeof value, cudaMemcpyDeviceToHost);
    return value;
  }

  cudaStream_t stream_ = nullptr;
  void* data_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

TEST_F(EmulatedGraph, DoesInOrderWhatWasCaptured) {
  capture(3, &graph_);
  EXPECT_EQ(value(), 0) << "a captured kernel is done";
  ASSERT_EQ(cudaGraphInstantiate(&exec_, graph_, 0), cudaSuccess);
  EXPECT_EQ(value(), 0);
  cudaGraphLaunch(exec_, stream_), cudaGraphLaunch(exec_, stream_);
  EXPECT_EQ(value(), 18);
}

TEST_F(EmulatedGraph, TakesNewParametersForLaterLaunches) {
  cudaGraphNode_t const node = capture(3, &graph_);
  cudaGraphInstantiate(&exec_, graph_, 0);
  cudaGraphLaunch(exec_, stream_);
  int* to = number();
  int by = 10;
  void* arguments[] = {&to, &by};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(&add);
  parameters.kernelParams = arguments;
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(exec_, node, &parameters), cudaSuccess);
  cudaGraphLaunch(exec_, stream_);
  EXPECT_EQ(value(), 32);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec_, nullptr, &parameters), cudaErrorInvalidValue);
}

TEST_F(EmulatedGraph, IsUpdatedByOneOfTheSameShapeAlone) {
  capture(3, &graph_);
  cudaGraphInstantiate(&exec_, graph_, 0);
  cudaGraph_t other = nullptr;
  capture(5, &other);
  cudaGraphExecUpdateResultInfo result;
  EXPECT_EQ(cudaGraphExecUpdate(exec_, other, &result), cudaSuccess);
  cudaGraphDestroy(other);
  cudaGraphLaunch(exec_, stream_);
  EXPECT_EQ(value(), 10);
  begin();
  const cudaLaunchConfig_t where = config();
  cudaLaunchKernelEx(&where, &twice, number());
  cudaStreamEndCapture(stream_, &other);
  EXPECT_EQ(cudaGraphExecUpdate(exec_, other, &result), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);
  cudaGraphDestroy(other);
}

TEST_F(EmulatedGraph, IsNotMadeWhereTheHostWaitsMeanwhile) {
  void* other = nullptr;
  const std::function<cudaError_t()> forbidden[] = {
      [&] { return cudaStreamSynchronize(stream_); }, [] { return cudaDeviceSynchronize(); },
      [&] { return cudaMalloc(&other, 4); }, [&] { return cudaMemset(data_, 0, 4); }};
  for (const auto& each : forbidden) {
    begin();
    EXPECT_EQ(each(), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph_, nullptr);
  }
}

TEST_F(EmulatedGraph, IsOfOneStreamAndOneThread) {
  cudaStream_t other = nullptr;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, other);
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, event), cudaErrorStreamCaptureIsolation);
  std::thread([&] {
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), cudaErrorStreamCaptureWrongThread);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "another thread's own business";
  }).join();
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), cudaErrorIllegalState);
  cudaEventDestroy(event);
  cudaStreamDestroy(other);
}

}  // namespace
}  // namespace emulated
