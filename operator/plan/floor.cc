#include "operator/plan/floor.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace atl::ctl {

Floor::Floor(const Topology& topology, const Traffic& traffic) : traffic_(traffic) {
  std::vector<int> most(topology.weights().size(), 0);  // slots of a domain, by level
  for (const Domain& domain : topology.domains())
    if (domain.level >= 0)
      most[std::size_t(domain.level)] = std::max(most[std::size_t(domain.level)], domain.slots);
  // Coarse levels may be given less weight than fine ones: then what is further away costs as little.
  double cheapest = std::numeric_limits<double>::infinity();
  int others = std::numeric_limits<int>::max();
  for (std::size_t level = 0; level < most.size(); ++level) {
    cheapest = std::min(cheapest, topology.weights()[level]);
    ladder_.push_back({others, cheapest});
    others = most[level] - 1;
  }
  ladder_.push_back({others, 0});
  std::ranges::reverse(ladder_);
}

double Floor::least_cost(std::vector<double>& bytes) const {
  std::ranges::sort(bytes, std::greater());
  auto rung = ladder_.begin();
  double cost = 0;
  for (std::size_t peer = 0; peer < bytes.size(); ++peer) {
    while (int(peer) >= rung->others) ++rung;
    cost += bytes[peer] * rung->byte_cost;
  }
  return cost;
}

double Floor::among(const std::vector<bool>& is_counted) const {
  double twice = 0;
  std::vector<double> bytes;
  for (int server = 0; server < traffic_.servers(); ++server) {
    if (!is_counted[std::size_t(server)]) continue;
    bytes.clear();
    for (const auto& peer : traffic_.peers(server))
      if (is_counted[std::size_t(peer.server)]) bytes.push_back(peer.bytes);
    twice += least_cost(bytes);
  }
  return twice / 2;
}

double Floor::among_all() const {
  return among(std::vector<bool>(std::size_t(traffic_.servers()), true));
}

}  // namespace atl::ctl
