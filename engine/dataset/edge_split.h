// The edges that link prediction trains, validates and tests on, and the negative pairs that it is measured
// against, as an importer collects them.
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
  Index again = 0;     // training edges that occurred before in the other direction
  Index held_out = 0;  // training edges that are the reverse of a validation or test edge
  Index measured = 0;  // validation and test edges that occurred before in the other direction, in either set
  Index negatives = 0;  // negative pairs whose reverse is an edge or occurred before
  Index all() const { return again + held_out + measured + negatives; }
};

/// Throws Error, which begins with `source`, if an id isn't below `vertices`, a pair is twice in its set or
/// in two sets, an edge joins a vertex to itself, or there is nothing to train on. If edges have no direction
/// (`undirected`), an edge and its reverse are the same edge. Of a pair that is there in both directions one
/// is kept: the one in the first of these sets: test edges, validation edges, training edges, test's negative
/// pairs, validation's. Within a set the one from the smaller id is kept.
LeftOut check_edge_split(EdgeSplit& split, Index vertices, bool undirected, const std::string& source);

/// Returns "validation edges (val_pos)", with the name of the set's array in edge_split.npz.
const char* to_string(PairSet set);

}  // namespace atl
