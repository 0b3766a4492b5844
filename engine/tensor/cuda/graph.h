// A CUDA graph of recorded calls. One launch does them all, one after the other, each with the same effect as
// by itself.
#pragma once

#include <utility>
#include <vector>

#include "tensor/cuda/recording.h"

namespace atl::cuda {

class Graph {
 public:
  Graph() = default;
  ~Graph() { forget(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  bool made() const { return exec_ != nullptr; }
  /// Captures the calls without running them. Each ran before, so that whatever a first call loads is loaded.
  /// An existing graph is updated, or made again if CUDA can't update it.
  void make(Recording& calls, const Target& on);
  /// Sets kernel i's arguments for the next launch to the recording's.
  void set(std::size_t i, Recording& calls);
  void launch(cudaStream_t stream);
  void forget();

 private:
  cudaGraph_t capture(Recording& calls, const Target& on, std::vector<cudaGraphNode_t>& nodes);

  cudaGraph_t graph_ = nullptr;  // from which exec_ was first made; owns the nodes
  cudaGraphExec_t exec_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;  // by call; null: a library's call
};

}  // namespace atl::cuda
