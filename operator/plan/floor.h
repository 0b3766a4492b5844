// A lower bound on the cost of any placement, from how many servers have room near one another: a server
// finds at most so many others on its node, so many in its rack, and the rest are further away. An answer
// that costs no more is a best one, and ends the search.
#pragma once

#include <cstdint>
#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

class Floor {
 public:
  /// Sorts each server's peers once, for all topologies. Memory: one number per pair that talks, twice.
  explicit Floor(const Traffic& traffic);

  /// Of placements inside one domain; domain 0 is the whole cluster.
  double of(const Topology& topology, int domain) const;

 private:
  std::vector<std::vector<double>>
      most_;  // by server: bytes with the k peers that it talks to most, k = 0, 1 …
};

}  // namespace atl::ctl
