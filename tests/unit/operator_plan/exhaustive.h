// The reference for placement: tries every way to put the servers on the nodes, and cuts a branch only where
// its cost already equals the best.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "operator/plan/placement.h"

namespace atl::ctl {

inline double exhaustive(const Topology& topology, const Traffic& traffic) {
  std::vector<int> free, at(std::size_t(traffic.servers()), -1);
  for (const Site& site : topology.sites()) free.push_back(site.slots);
  double best = std::numeric_limits<double>::infinity();
  std::function<void(int, double)> next = [&](int server, double cost) {
    if (cost >= best) return;
    if (server == traffic.servers()) {
      best = cost;
      return;
    }
    for (int site = 0; site < int(free.size()); ++site) {
      if (free[site] == 0 || (server == 0 && !topology.sites()[site].takes_first)) continue;
      double added = 0;
      for (const auto& [peer, bytes] : traffic.peers(server))
        if (peer < server) added += bytes * topology.distance(site, at[peer]);
      --free[site];
      at[server] = site;
      next(server + 1, cost + added);
      ++free[site];
    }
  };
  next(0, 0);
  return best;
}

}  // namespace atl::ctl
