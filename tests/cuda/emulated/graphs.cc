// Calls of CUDA graphs. Calls that the manual refuses are refused; calls that it allows but Atoll doesn't use
// end the program.
#include "graphs.h"

#include <algorithm>

#include "streams.h"

namespace emulated {
namespace {

/// Of this thread: how many at once is the thread's own business.
std::vector<Stream*>& captured_here() {
  static thread_local std::vector<Stream*> streams;
  return streams;
}

}  // namespace

bool unsafe_in_capture() {
  for (Stream* each : captured_here()) each->capture()->valid = false;
  return !captured_here().empty();
}

bool is_captured(cudaStream_t stream) {
  return stream->capture() != nullptr;
}

bool add_to_capture(cudaStream_t stream, const cudaLaunchConfig_t& config, const void* function, Binder bind,
                    std::function<void()> work) {
  Capture* const capture = stream->capture();
  if (capture == nullptr) return false;
  if (std::ranges::find(captured_here(), stream) == captured_here().end())
    end("a stream is given work by another thread than the one that captures it");
  capture->graph->nodes.push_back(std::make_unique<Node>(config, function, bind, std::move(work)));
  capture->last = capture->graph->nodes.back().get();
  return true;
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* function, Binder bind,
                   void* const* arguments) {
  if (config.gridDim.x == 0 || config.blockDim.x == 0 || config.blockDim.x > 1024 ||
      config.dynamicSmemBytes > 48 << 10 || !is_this_threads(config.stream))
    return cudaErrorInvalidValue;
  std::function<void()> work = bind(config, function, arguments);
  if (add_to_capture(config.stream, config, function, bind, work)) return cudaSuccess;
  give(config.stream, std::move(work));
  return cudaSuccess;
}

}  // namespace emulated

using emulated::captured_here;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (mode != cudaStreamCaptureModeThreadLocal) emulated::end("a capture that isn't the thread's own");
  if (stream->capture() != nullptr) return cudaErrorIllegalState;
  stream->begin_capture();
  captured_here().push_back(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (stream->capture() == nullptr) return cudaErrorIllegalState;
  if (std::ranges::find(captured_here(), stream) == captured_here().end())
    return cudaErrorStreamCaptureWrongThread;
  std::erase(captured_here(), stream);
  const std::unique_ptr<emulated::Capture> capture = stream->end_capture();
  if (!capture->valid) return cudaErrorStreamCaptureInvalidated;
  *graph = capture->graph.release();
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  if (id != nullptr || graph != nullptr || edges != nullptr) emulated::end("unplayed answers of a capture");
  emulated::Capture* const capture = stream->capture();
  *status = capture == nullptr ? cudaStreamCaptureStatusNone
            : capture->valid   ? cudaStreamCaptureStatusActive
                               : cudaStreamCaptureStatusInvalidated;
  *dependencies = capture == nullptr ? nullptr : &capture->last;
  *count = capture != nullptr && capture->last != nullptr ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
  *exec = new emulated::GraphExec{emulated::this_threads_gpu(), {}};
  for (const auto& each : graph->nodes)
    (*exec)->steps.push_back({each.get(), each->config, each->function, each->bind, each->work});
  return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  const auto step = std::ranges::find(exec->steps, node, &emulated::GraphExec::Step::of);
  if (step == exec->steps.end() || step->function == nullptr || parameters->kernelParams == nullptr)
    return cudaErrorInvalidValue;
  if (parameters->func != step->function) emulated::end("another kernel for a node isn't played");
  step->config.gridDim = parameters->gridDim, step->config.blockDim = parameters->blockDim;
  step->config.dynamicSmemBytes = parameters->sharedMemBytes;
  step->work = step->bind(step->config, step->function, parameters->kernelParams);
  return cudaSuccess;
}

/// A library's calls may have become others of as many; kernels stay kernels.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  *result = {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
  if (graph->nodes.size() != exec->steps.size()) return cudaErrorGraphExecUpdateFailure;
  result->result = cudaGraphExecUpdateErrorNodeTypeChanged;
  for (std::size_t i = 0; i < exec->steps.size(); ++i)
    if ((graph->nodes[i]->function == nullptr) != (exec->steps[i].function == nullptr))
      return cudaErrorGraphExecUpdateFailure;
  for (std::size_t i = 0; i < exec->steps.size(); ++i) {
    const emulated::Node& node = *graph->nodes[i];
    exec->steps[i] = {exec->steps[i].of, node.config, node.function, node.bind, node.work};
  }
  result->result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!emulated::is_this_threads(stream) || stream->gpu() != exec->gpu) return cudaErrorInvalidValue;
  if (emulated::is_captured(stream)) emulated::end("a graph within a captured one isn't played");
  for (const auto& each : exec->steps) emulated::give(stream, each.work);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
