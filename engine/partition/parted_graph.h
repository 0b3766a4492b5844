// A graph whose rows are divided into parts, each part's contiguous, as localize() reads it: a prepared graph, its induced half, or what
// a server of several ranks holds (partition/server_graph.h).
#pragma once

#include <span>
#include <vector>

#include "partition/prepared_graph.h"

namespace atl {

/// Views; whose arrays they are outlives it.
struct PartedGraph {
  CsrView graph;                                 // (rows × rows)
  std::span<const Index> part_offsets;           // (parts + 1)
  std::vector<std::span<const VertexId>> halos;  // (parts) rows that each reads and doesn't own, ascending
  std::span<const VertexId> ids;                 // (rows) the data set's
  std::span<const Index> slice_offsets;          // (parts · slices + 1)
  int slices = 1;                                // of each part
  std::span<const double> degrees{};             // (rows) that normalisations take; empty: the graph's own
};

/// The whole graph, or its induced half.
PartedGraph parted(const PreparedGraph& prepared, bool induced);

}  // namespace atl
