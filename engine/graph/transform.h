// Changes of a graph's arcs that a job may ask for before training. All keep the vertices and return rows
// with ascending columns; all are O(vertices + arcs) in time and memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/csr.h"

namespace atl {

/// Adds the reverse of every arc and drops duplicates. A duplicate arc keeps its first weight; an added
/// reverse takes the weight of its original. Columns of `a` must ascend in each row.
Csr symmetrise(const CsrView& a);

/// Gives each row exactly one self-loop: an existing one keeps its weight, a new one weighs 1. Drops
/// duplicates of self-loops, but not of other arcs.
Csr with_self_loops(const CsrView& a);
Csr without_self_loops(const CsrView& a);

/// Keeps only arcs between marked vertices; the other rows become empty.  marked (a.rows), a.rows == a.cols.
Csr induced_subgraph(const CsrView& a, std::span<const std::uint8_t> marked);

/// Which vertices are neighbours, for partitioners and orderings: symmetric, unweighted, without loops or
/// duplicates. `is_symmetric` says that `a` is known to have the reverse of each of its arcs.
Csr neighbour_pattern(const CsrView& a, bool is_symmetric);

/// Returns the vertices in an order that places neighbours near each other (locality_order.cc). `pattern` is
/// symmetric without loops (see neighbour_pattern). `group` has a number for each vertex, and vertices of
/// different groups are never merged; empty: all are one group. Deterministic.
std::vector<VertexId> locality_order(const CsrView& pattern, std::span<const std::int32_t> group);

}  // namespace atl
