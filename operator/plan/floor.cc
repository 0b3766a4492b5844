#include "operator/plan/floor.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

namespace atl::ctl {
namespace {

struct Rung {
  int others = 0;        // of a server, so near or nearer
  double byte_cost = 0;  // of a byte to them
};

/// The nearest first; the last holds everybody.
std::vector<Rung> ladder_of(const Topology& topology) {
  std::vector<int> most(topology.weights().size(), 0);  // slots of a domain, by level
  for (const Domain& domain : topology.domains())
    if (domain.level >= 0)
      most[std::size_t(domain.level)] = std::max(most[std::size_t(domain.level)], domain.slots);
  std::vector<Rung> ladder;
  // Coarse levels may be given less weight than fine ones: then what is further away costs as little.
  double cheapest = std::numeric_limits<double>::infinity();
  int others = std::numeric_limits<int>::max();
  for (std::size_t level = 0; level < most.size(); ++level) {
    cheapest = std::min(cheapest, topology.weights()[level]);
    ladder.push_back({others, cheapest});
    others = most[level] - 1;
  }
  ladder.push_back({others, 0});
  std::ranges::reverse(ladder);
  return ladder;
}

/// Of one server: the peers that it talks to most are the nearest. Sorts `bytes`.
double least_cost(const std::vector<Rung>& ladder, std::vector<double>& bytes) {
  std::ranges::sort(bytes, std::greater());
  auto rung = ladder.begin();
  double cost = 0;
  for (std::size_t peer = 0; peer < bytes.size(); ++peer) {
    while (int(peer) >= rung->others) ++rung;
    cost += bytes[peer] * rung->byte_cost;
  }
  return cost;
}

}  // namespace

double floor_of(const Topology& topology, const Traffic& traffic) {
  const std::vector<Rung> ladder = ladder_of(topology);
  double twice = 0;
  std::vector<double> bytes;
  for (int server = 0; server < traffic.servers(); ++server) {
    bytes.clear();
    for (const auto& peer : traffic.peers(server)) bytes.push_back(peer.bytes);
    twice += least_cost(ladder, bytes);
  }
  return twice / 2;
}

}  // namespace atl::ctl
