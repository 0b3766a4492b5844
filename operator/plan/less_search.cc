#include "operator/plan/less_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace atl::ctl {

Twins::Twins(const Topology& topology, int servers)
    : topology_(topology),
      servers_(servers),
      shapes_(topology.domains().size()),
      kept_(topology.domains().size()) {
  // A node's shape is what it can take. The shape of a domain above is a negative number, which stands for
  // its level and its children's shapes.
  std::map<std::vector<int>, int> numbers;
  std::vector<std::pair<int, int>> children;  // shape, domain
  std::vector<int> shape;
  for (std::size_t d = topology.domains().size(); d-- > 0;) {
    const Domain& domain = topology.domains()[d];
    if (domain.children.empty()) {
      const Site& site = topology.sites()[std::size_t(domain.first)];
      shapes_[d] = 2 * std::min(site.slots, servers) + int(site.takes_first);
      continue;
    }
    children.clear();
    for (const int child : domain.children) children.emplace_back(shape_of(child), child);
    std::ranges::sort(children);
    shape.clear();
    for (const auto& [of_child, child] : children) {
      const std::size_t size = shape.size(), most = std::size_t(servers);
      if (size >= most && shape[size - most] == of_child) continue;
      shape.push_back(of_child);
      kept_[d].push_back(child);
    }
    std::ranges::sort(kept_[d]);
    shape.push_back(domain.level);
    shapes_[d] = numbers.emplace(shape, -1 - int(numbers.size())).first->second;
  }
}

void Twins::keep(int domain, std::vector<int>& sites) const {
  if (topology_.domains()[std::size_t(domain)].children.empty())
    sites.push_back(topology_.domains()[std::size_t(domain)].first);
  for (const int child : kept_[std::size_t(domain)]) keep(child, sites);
}

Topology Twins::without_twins(int domain) const {
  std::vector<int> sites;
  if (!topology_.sites().empty()) keep(domain, sites);
  return topology_.keeping(sites, servers_);
}

namespace {

struct Rung {
  int others = 0;        // how many others can be as near as this or nearer
  double byte_cost = 0;  // cost of a byte to servers at this distance
};

/// The rungs of a domain, from the nearest. The last one holds all servers.
std::vector<Rung> ladder_of(const Topology& topology, const Domain& domain) {
  std::vector<int> most(topology.weights().size(), 0);  // by level: the most slots of an inner domain
  for (int site = domain.first; site < domain.last; ++site)
    for (int level = domain.level + 1; level < topology.levels(); ++level) {
      const int inner = topology.domain_of(site, level);
      most[std::size_t(level)] =
          std::max(most[std::size_t(level)], topology.domains()[std::size_t(inner)].slots);
    }
  std::vector<Rung> ladder;
  // Coarse levels may have less weight than fine ones. A byte that goes further then costs no more.
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
  for (const auto& most : most_) {  // the bound puts the busiest peers nearest
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
