#include "tensor/cuda/graph.h"

namespace atl::cuda {
namespace {

/// The node captured last. A stream's calls form a chain.
cudaGraphNode_t last_node(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  ATOLL_MUST(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &count));
  ATOLL_CHECK(status == cudaStreamCaptureStatusActive && count == 1, "a captured call has {} nodes behind it",
              count);
  return nodes[0];
}

cudaKernelNodeParams parameters_of(const Call& call, void* const* arguments) {
  cudaKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(call.function);
  parameters.gridDim = dim3(call.grid.blocks);
  parameters.blockDim = dim3(call.grid.threads);
  parameters.sharedMemBytes = unsigned(call.grid.shared);
  parameters.kernelParams = const_cast<void**>(arguments);
  return parameters;
}

}  // namespace

/// During capture only this thread may not wait for the device; others go on.
cudaGraph_t Graph::capture(Recording& calls, const Target& on, std::vector<cudaGraphNode_t>& nodes) {
  ATOLL_MUST(cudaStreamBeginCapture(on.stream, cudaStreamCaptureModeThreadLocal));
  nodes.assign(calls.size(), nullptr);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls.run(i, on);
    if (calls.call(i).is_kernel) nodes[i] = last_node(on.stream);
  }
  cudaGraph_t graph = nullptr;
  ATOLL_MUST(cudaStreamEndCapture(on.stream, &graph));
  return graph;
}

void Graph::make(Recording& calls, const Target& on) {
  std::vector<cudaGraphNode_t> nodes;
  cudaGraph_t const graph = capture(calls, on, nodes);
  if (made()) {
    cudaGraphExecUpdateResultInfo result{};
    const Calling calling;
    const cudaError_t status = cudaGraphExecUpdate(exec_, graph, &result);
    if (status == cudaSuccess) {  // the nodes stay those of graph_
      cudaGraphDestroy(graph);
      return;
    }
    cudaGetLastError();  // reported here, not again by the next launch
    if (status != cudaErrorGraphExecUpdateFailure) must(status, "cudaGraphExecUpdate");
    forget();
  }
  graph_ = graph;
  nodes_ = std::move(nodes);
  ATOLL_MUST(cudaGraphInstantiate(&exec_, graph_, 0));
}

void Graph::set(std::size_t i, Recording& calls) {
  const cudaKernelNodeParams parameters = parameters_of(calls.call(i), calls.arguments(i));
  ATOLL_MUST(cudaGraphExecKernelNodeSetParams(exec_, nodes_[i], &parameters));
}

void Graph::launch(cudaStream_t stream) {
  ATOLL_MUST(cudaGraphLaunch(exec_, stream));
}

void Graph::forget() {
  if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
  if (graph_ != nullptr) cudaGraphDestroy(graph_);
  exec_ = nullptr, graph_ = nullptr;
  nodes_.clear();
}

}  // namespace atl::cuda
