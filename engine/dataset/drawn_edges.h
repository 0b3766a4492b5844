// An edge split for a graph that has none: --edge-split random:85/5/10. And which training edges carry no messages: --disjoint 30.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/edge_split.h"

namespace atl {

/// Each edge is drawn by itself, from the seed and its ends, whatever its direction; shares are met to chance. To each validation and test
/// edge belongs a negative pair, drawn among those that are no edges.
struct DrawnEdgeSplit {
  double train = 0, validation = 0, test = 0;  // shares of the edges; 1 together
  std::uint64_t seed = 0;

  PairSet part_of(const VertexPair& edge) const;
  /// "random:85/5/10, seed 1"
  std::string description() const;
};

/// "random:TRAIN/VALIDATION/TEST", percent that add up to 100. Anything else is an Error that names --edge-split.
DrawnEdgeSplit parse_edge_split(const std::string& text, std::uint64_t seed);

/// Of arcs between `vertices` vertices. Where each has its reverse, or `undirected`, both are one edge. Loops are no edges; duplicates are
/// one. Throws Error, which begins with `name`, where a part that has a share gets no edge, or there are too few pairs that are no edges.
struct DrawnEdges {
  EdgeSplit split;
  bool undirected = false;
};
DrawnEdges draw_edges(std::vector<VertexPair> arcs, Index vertices, bool undirected,
                      const DrawnEdgeSplit& drawn, const std::string& name);

/// Puts a share of the training edges first, those that are trained on and carry no messages, and returns their number. Drawn as above.
Index put_supervision_first(std::vector<VertexPair>& training, double share, std::uint64_t seed);

}  // namespace atl
