// Changes of a graph's arcs that a job may ask for before training. All keep the vertices and give rows whose
// columns ascend; all are O(vertices + arcs) in time and memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/csr.h"

namespace atl {

/// Adds the reverse of every arc and drops duplicates. An arc that is there twice keeps its own first weight;
/// a reverse that was not there takes the weight of its original. Columns of `a` must ascend in each row.
Csr symmetrise(const CsrView& a);

/// Exactly one self-loop a row: one that is there is kept with its weight, a new one weighs 1. Duplicates of
/// self-loops are dropped, other duplicates are not.
Csr with_self_loops(const CsrView& a);
Csr without_self_loops(const CsrView& a);

/// Arcs between marked vertices alone; the other rows become empty.  marked (a.rows), a.rows == a.cols.
Csr induced_subgraph(const CsrView& a, std::span<const std::uint8_t> marked);

/// Who is next to whom, for partitioners and orderings: symmetric, unweighted, no loops, no duplicates.
/// `is_symmetric`: the reverse of every arc of `a` is known to be there.
Csr neighbour_pattern(const CsrView& a, bool is_symmetric);

/// Returns the vertices in an order in which neighbours lie near each other (locality_order.cc). `pattern` is
/// symmetric without loops (see neighbour_pattern). `group` has a number for each vertex, and vertices of
/// different groups are never merged; empty: all are one group. Deterministic.
std::vector<VertexId> locality_order(const CsrView& pattern, std::span<const std::int32_t> group);

}  // namespace atl
