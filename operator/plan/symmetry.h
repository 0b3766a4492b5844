// Leaves out nodes that can't change an answer. Of brothers that look the same (nodes of equal slots in one
// rack; racks of equal nodes in one zone) a job of n servers uses at most n, and any n will do: the first by
// name stay. A cluster of equal nodes so becomes as small as the job, whatever its size.
#pragma once

#include "operator/plan/topology.h"

namespace atl::ctl {

/// The cheapest answer on it costs as much as the cheapest on `topology`.
Topology without_twins(const Topology& topology, int servers);

}  // namespace atl::ctl
