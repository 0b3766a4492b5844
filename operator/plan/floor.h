// What no placement can cost less than, from how many servers there is room for near one another: a server finds at most
// so many others on its node, so many in its rack, and the others are further away. Where an answer costs no more, it is
// a best one, and nobody needs to look on.
#pragma once

#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

class Floor {
 public:
  /// `traffic` must outlive it.
  Floor(const Topology& topology, const Traffic& traffic);

  /// The least that servers cost among themselves, wherever they stand. is_counted: (servers)
  double among(const std::vector<bool>& is_counted) const;
  double among_all() const;

 private:
  struct Rung {
    int others = 0;        // of a server, so near or nearer
    double byte_cost = 0;  // of a byte to them
  };
  double least_cost(std::vector<double>& bytes) const;

  const Traffic& traffic_;
  std::vector<Rung> ladder_;  // the nearest first; the last holds everybody
};

}  // namespace atl::ctl
