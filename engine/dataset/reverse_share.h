// The share of a graph's arcs that have their reverse: 1 for an undirected graph, near 0 if each edge is
// stored once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace atl {

/// Counts on pairs of vertices: on all of them in a graph of up to 2¹⁸ arcs, else on about 2¹⁸, chosen by
/// their ids alone. So memory is bounded, and the result doesn't depend on the order of arcs.
class ReverseShare {
 public:
  /// `arcs`: the most arcs that all objects to be joined will get together.
  explicit ReverseShare(Index arcs);

  /// Adds an arc; each may be added once. Self-loops don't count.
  void add(VertexId dst, VertexId src);
  void join(const ReverseShare& other);
  /// Returns 0 … 1; 1 if no arc joins two vertices.
  double share();

 private:
  std::uint64_t limit_;               // pairs whose mixed bits are at most this are counted
  std::vector<std::uint64_t> pairs_;  // each pair once per arc between its vertices
};

}  // namespace atl
