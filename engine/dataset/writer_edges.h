// The part of a DatasetWriter that is for link prediction: the edge split, the arcs that follow from it, and
// features for vertices that have none.
#pragma once

#include <optional>
#include <span>

#include "dataset/edge_split.h"

namespace atl {

// Whether a graph is bipartite, and how many of the pairs of vertices that are said to be no edges could
// never be any.

/// The sides of a graph whose edges all cross from one to the other.
struct TwoSides {
  Index first = 0,
        second = 0;  // vertices that have edges; the first side has the smallest id of each component
  Index pairs = 0, within = 0;  // negative pairs, and those whose ends are on one side
};

/// Nothing where edges within a side exist, or where there are fewer edges than vertices that have some: such
/// a graph, as a tree, has two sides by chance and not because its vertices are of two kinds.
std::optional<TwoSides> two_sides(const EdgeSplit& split, Index vertices);

}  // namespace atl
