// The part of a DatasetWriter for link prediction: the edge split, the arcs that follow from it, and features
// for vertices that have none.
#pragma once

#include <optional>
#include <span>

#include "dataset/edge_split.h"

namespace atl {

// Whether a graph is bipartite, and how many of its negative pairs could never be edges.

/// The two sides of a bipartite graph, whose edges all cross.
struct TwoSides {
  Index first = 0,
        second = 0;             // vertices with edges; the first side has the smallest id of each component
  Index pairs = 0, within = 0;  // negative pairs, and those with both ends on one side
};

/// Nothing if an edge joins vertices of one side, or there are fewer edges than vertices with edges. Such a
/// graph, like a tree, has two sides by chance, not because its vertices are of two kinds.
std::optional<TwoSides> two_sides(const EdgeSplit& split, Index vertices);

}  // namespace atl
