// The rows that parts of a prepared graph have for each other.
#pragma once

#include <vector>

#include "job/layout.h"
#include "partition/prepared_graph.h"

namespace atl {

/// By pair of parts, those without any left out; `induced`: of the graph that inductive training sees.
std::vector<CutRows> cut_rows(const PreparedGraph& prepared, bool induced);

}  // namespace atl
