#include "tensor/cuda/rounds.h"

#include <utility>

namespace atl::cuda {

void Rounds::begin(Round round) {
  end_segment();
  round_ = &rounds_[std::size_t(round)];
  number_ = 0;
}

/// The current segment; null: it is left alone.
Rounds::Segment* Rounds::segment() {
  if (round_ == nullptr || number_ >= kMostSegments) return nullptr;
  if (number_ == round_->size()) round_->emplace_back();
  Segment& segment = (*round_)[number_];
  return segment.left_alone ? nullptr : &segment;
}

bool Rounds::records() {
  if (!any_) {
    any_ = true;
    const Segment* const own = segment();
    holds_back_ = own != nullptr && own->graph.made();
  }
  if (segment() != nullptr) return true;
  ++counts_.calls;
  return false;
}

/// Runs the call that was recorded last, or holds it back.
void Rounds::go_on() {
  const std::size_t last = now_.size() - 1;
  if (!holds_back_) {
    now_.run(last, on_);
    ++counts_.calls;
    return;
  }
  const Recording& kept = segment()->kept;
  if (last >= kept.size() || now_.call(last) != kept.call(last)) release();
}

/// Runs the calls that were held back one by one; later calls run at once.
void Rounds::release() {
  holds_back_ = false;
  for (std::size_t i = 0; i < now_.size(); ++i) now_.run(i, on_);
  counts_.calls += std::int64_t(now_.size());
}

void Rounds::end_segment() {
  if (!any_) return;
  any_ = false;
  Segment* const own = segment();
  ++number_;
  if (own == nullptr) return;
  if (holds_back_ && now_.size() == own->kept.size())
    replay(*own);
  else
    look_at(*own);
  std::swap(own->kept, now_);
  now_.clear();
}

void Rounds::replay(Segment& segment) {
  bool library_differs = false;
  std::int64_t set = 0;
  for (std::size_t i = 0; i < now_.size(); ++i) {
    if (now_.same_arguments(i, segment.kept)) continue;
    if (now_.call(i).is_kernel)
      segment.graph.set(i, now_), ++set;
    else
      library_differs = true;
  }
  if (library_differs) segment.graph.make(now_, on_), ++counts_.captures;
  segment.graph.launch(on_.stream);
  segment.changes = 0;
  holds_back_ = false;
  ++counts_.launches;
  counts_.replayed += std::int64_t(now_.size());
  counts_.set += set;
}

/// Called at the end of a segment: runs its calls if they were held back, and compares it with the last
/// round's.
void Rounds::look_at(Segment& segment) {
  if (holds_back_) release();
  const bool is_first = segment.kept.size() == 0;
  if (!is_first && same_calls(now_, segment.kept)) {
    if (now_.size() < kFewest) {
      segment.left_alone = true;
      return;
    }
    segment.graph.make(now_, on_), ++counts_.captures;
    return;
  }
  segment.graph.forget();
  if (!is_first && ++segment.changes >= kMostChanges) segment.left_alone = true;
}

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
