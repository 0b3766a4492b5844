// Which edges link prediction trains on, validates and tests by, and the pairs that are no edges which it is
// measured against: while an importer collects it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace atl {

/// A pair of vertices: source, destination.
using VertexPair = std::array<VertexId, 2>;

struct EdgeSplit {
  std::array<std::vector<VertexPair>, kPairSets> pairs;  // by PairSet
  std::vector<VertexPair>& of(PairSet set) { return pairs[std::size_t(set)]; }
  const std::vector<VertexPair>& of(PairSet set) const { return pairs[std::size_t(set)]; }
};

/// What check_edge_split() left out.
struct LeftOut {
  Index again = 0;     // training edges that were there before, the other way round
  Index held_out = 0;  // … and that are the reverse of a validation or test edge
  Index measured = 0;  // validation and test edges that were there before, the other way round, in either set
  Index negatives = 0;  // negative pairs whose reverse is an edge, or was there before
  Index all() const { return again + held_out + measured + negatives; }
};

/// Throws Error, which begins with `source`, where an id isn't below `vertices`, a pair is in its set twice
/// or in two sets, an edge joins a vertex to itself, or there is nothing to train on. Where edges have no
/// direction (`undirected`), the reverse of an edge is the same edge. Of a pair that is there in both
/// directions one is kept: that of the first set of test edges, validation edges, training edges, test's
/// negative pairs and validation's, and within a set the one from the smaller id.
LeftOut check_edge_split(EdgeSplit& split, Index vertices, bool undirected, const std::string& source);

/// "validation edges (val_pos)", with the name of its array in edge_split.npz
const char* to_string(PairSet set);

}  // namespace atl
