// What no placement can cost less than, from how many servers there is room for near one another: a server finds at most
// so many others on its node, so many in its rack, and the others are further away. Where an answer costs no more, it is
// a best one, and nobody needs to look on.
#pragma once

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

/// The least that the servers cost, wherever they stand.
double floor_of(const Topology& topology, const Traffic& traffic);

}  // namespace atl::ctl
