// A CUDA graph of recorded calls: launched at once, it does them one after the other, each as it would be
// done by itself.
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
  /// Captured from the calls, none of which is done by that; each was done before, so that what a first one
  /// loads is there. A graph that is made already is changed, or made anew where CUDA won't change it.
  void make(Recording& calls, const Target& on);
  /// The next launch has the recording's arguments of kernel i.
  void set(std::size_t i, Recording& calls);
  void launch(cudaStream_t stream);
  void forget();

 private:
  cudaGraph_t capture(Recording& calls, const Target& on, std::vector<cudaGraphNode_t>& nodes);

  cudaGraph_t graph_ = nullptr;  // that exec_ was first made of: it owns the nodes
  cudaGraphExec_t exec_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;  // by call; null: a library's
};

}  // namespace atl::cuda
