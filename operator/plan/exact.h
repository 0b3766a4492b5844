// The best answer of a small placement, proven by branch and bound: each server in turn on every site, given up
// where what is placed and the least that the others must add cost as much as the best answer known.
#pragma once

#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

struct Proof {
  bool is_whole = false;  // no answer costs less
  std::vector<int>
      site_of;  // (servers) the best that was found; empty where none costs less than the one that is known
  double cost = 0;  // of that or of the known one
};

/// `known`: the cost of an answer. Gives up after `steps` placements of a server.
Proof prove(const Topology& topology, const Traffic& traffic, double known, long steps);

}  // namespace atl::ctl
