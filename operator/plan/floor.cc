#include "operator/plan/floor.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace atl::ctl {
namespace {

struct Rung {
  int others = 0;        // others of a server that are so near or nearer
  double byte_cost = 0;  // of a byte to them
};

/// Rungs from the nearest; the last holds all servers.
std::vector<Rung> ladder_of(const Topology& topology, const Domain& domain) {
  std::vector<int> most(topology.weights().size(), 0);  // slots of a domain inside, by level
  for (int site = domain.first; site < domain.last; ++site)
    for (int level = domain.level + 1; level < topology.levels(); ++level) {
      const int inner = topology.domain_of(site, level);
      most[std::size_t(level)] =
          std::max(most[std::size_t(level)], topology.domains()[std::size_t(inner)].slots);
    }
  std::vector<Rung> ladder;
  // Coarse levels may have less weight than fine ones: then what is further away costs no more.
  double cheapest = std::numeric_limits<double>::infinity();
  int others = std::numeric_limits<int>::max();
  for (std::size_t level = std::size_t(domain.level) + 1; level < most.size(); ++level) {
    cheapest = std::min(cheapest, topology.weights()[level]);
    ladder.push_back({others, cheapest});
    others = most[level] - 1;
  }
  ladder.push_back({others, 0});
  std::ranges::reverse(ladder);
  return ladder;
}

}  // namespace

Floor::Floor(const Traffic& traffic) : most_(std::size_t(traffic.servers())) {
  std::vector<double> bytes;
  for (int server = 0; server < traffic.servers(); ++server) {
    bytes.clear();
    for (const auto& peer : traffic.peers(server)) bytes.push_back(peer.bytes);
    std::ranges::sort(bytes, std::greater());
    auto& most = most_[std::size_t(server)];
    most.push_back(0);
    for (const double amount : bytes) most.push_back(most.back() + amount);
  }
}

double Floor::of(const Topology& topology, int domain) const {
  const std::vector<Rung> ladder = ladder_of(topology, topology.domains()[std::size_t(domain)]);
  double twice = 0;
  for (const auto& most : most_) {  // the peers that a server talks to most are nearest
    std::size_t nearer = 0;
    for (const Rung& rung : ladder) {
      const std::size_t others = std::clamp(std::size_t(rung.others), nearer, most.size() - 1);
      twice += (most[others] - most[nearer]) * rung.byte_cost;
      nearer = others;
    }
  }
  return twice / 2;
}

}  // namespace atl::ctl
