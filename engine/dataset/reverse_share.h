// How many arcs of a graph have their reverse: 1 of an undirected graph, near 0 of one whose edges are stored
// once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace atl {

/// Counts on pairs of vertices: on all of them in a graph of up to 2¹⁸ arcs, else on about as many, chosen by
/// their ids alone. So memory is bounded, and the result doesn't depend on the order of arcs.
class ReverseShare {
 public:
  /// `arcs`: the most that all objects together will be given that are joined in the end.
  explicit ReverseShare(Index arcs);

  /// Each arc once. Self-loops don't count.
  void add(VertexId dst, VertexId src);
  void join(const ReverseShare& other);
  /// 0 … 1; 1 without arcs between two vertices.
  double share();

 private:
  std::uint64_t limit_;               // pairs whose mixed bits are at most this are counted
  std::vector<std::uint64_t> pairs_;  // once for each arc between the two
};

}  // namespace atl
