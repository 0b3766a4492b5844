#include "operator/plan/assignment.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "base/error.h"

namespace atl::ctl {

Assignment::Assignment(const Topology& topology, const Traffic& traffic)
    : topology_(&topology),
      traffic_(&traffic),
      site_of_(std::size_t(traffic.servers()), kNowhere),
      bytes_in_(topology.domains().size(), 0) {
  for (const Site& site : topology.sites()) free_.push_back(site.slots);
  double dearest = 0;
  for (const double weight : topology.weights()) dearest = std::max(dearest, weight);
  penalty_ = 1 + 2 * dearest * traffic.total_bytes();
}

void Assignment::put(int server, int site) {
  int& now = site_of_[std::size_t(server)];
  if (now != kNowhere) ++free_[std::size_t(now)];
  now = site;
  if (site != kNowhere) {
    ATOLL_CHECK(free_[std::size_t(site)] > 0, "node {} is full", topology_->sites()[std::size_t(site)].node);
    --free_[std::size_t(site)];
  }
}

void Assignment::swap(int a, int b) {
  std::swap(site_of_[std::size_t(a)], site_of_[std::size_t(b)]);
}

double Assignment::cost() const {
  double twice = 0, penalties = 0;
  for (int s = 0; s < traffic_->servers(); ++s) {
    if (site_of(s) == kNowhere) continue;
    twice += bytes_cost_at(s, site_of(s));
    penalties += penalty(s, site_of(s));
  }
  return twice / 2 + penalties;
}

double Assignment::cost_at(int server, int site) const {
  return bytes_cost_at(server, site) + penalty(server, site);
}

double Assignment::bytes_cost_at(int server, int site) const {
  double cost = 0;
  for (const auto& [peer, bytes] : traffic_->peers(server)) {
    if (site_of(peer) != kNowhere) cost += bytes * topology_->distance(site, site_of(peer));
  }
  return cost;
}

/// A byte to a peer in the same domain of level l − 1, but in another one of level l, costs the weight of
/// level l. So it is enough to know how many bytes go into each domain.
void Assignment::costs_everywhere(int server, std::vector<double>& costs) {
  const auto peers = traffic_->peers(server);
  for (const auto& [peer, bytes] : peers) {
    if (site_of(peer) == kNowhere) continue;
    for (int l = -1; l < topology_->levels(); ++l)
      bytes_in_[std::size_t(topology_->domain_of(site_of(peer), l))] += bytes;
  }
  costs.resize(topology_->sites().size());
  for (int site = 0; site < int(costs.size()); ++site) {
    double cost = 0, around = bytes_in_[0];
    for (int l = 0; l < topology_->levels() && around > 0; ++l) {
      const double inside = bytes_in_[std::size_t(topology_->domain_of(site, l))];
      cost += topology_->weights()[std::size_t(l)] * (around - inside);
      around = inside;
    }
    costs[std::size_t(site)] = cost + penalty(server, site);
  }
  for (const auto& [peer, bytes] : peers) {
    if (site_of(peer) == kNowhere) continue;
    for (int l = -1; l < topology_->levels(); ++l)
      bytes_in_[std::size_t(topology_->domain_of(site_of(peer), l))] = 0;
  }
}

double Assignment::swap_gain(int a, int b, double a_here, double a_there) const {
  const int here = site_of(a), there = site_of(b);
  double gain = a_there - a_here + cost_at(b, here) - cost_at(b, there);
  const auto peers = traffic_->peers(a);
  const auto found = std::ranges::lower_bound(peers, b, {}, &Traffic::Peer::server);
  // Both sums count the pair as if the two came together, but they stay as far apart as before.
  if (found != peers.end() && found->server == b) gain += 2 * found->bytes * topology_->distance(here, there);
  return gain;
}

// Leaves out nodes that can't change an answer. Of siblings that look the same (nodes of equal slots in one
// rack; racks of equal nodes in one zone) a job of n servers uses at most n, and any n will do: the first by
// name stay. So a cluster of equal nodes becomes as small as the job, whatever its size.

namespace {

class Shapes {
 public:
  Shapes(const Topology& topology, int servers) : topology_(topology), servers_(servers) {}

  /// Appends the sites of a domain that stay; returns the number of the domain's shape.
  int keep(int domain, std::vector<int>& kept) {
    const Domain& d = topology_.domains()[std::size_t(domain)];
    if (d.children.empty()) {
      kept.push_back(d.first);
      const Site& site = topology_.sites()[std::size_t(d.first)];
      return number_of({-1, site.slots, site.takes_first});
    }
    std::vector<int> shapes;
    std::map<int, int> seen;
    for (const int child : d.children) {
      const std::size_t before = kept.size();
      const int shape = keep(child, kept);
      if (seen[shape]++ < servers_)
        shapes.push_back(shape);
      else
        kept.resize(before);
    }
    std::ranges::sort(shapes);
    return number_of(std::move(shapes));
  }

 private:
  int number_of(std::vector<int> shape) {
    return numbers_.emplace(std::move(shape), numbers_.size()).first->second;
  }

  const Topology& topology_;
  int servers_;
  std::map<std::vector<int>, int> numbers_;  // numbers of shapes: what a node takes, or its children's shapes
};

}  // namespace

Topology without_twins(const Topology& topology, int servers) {
  std::vector<int> kept;
  if (!topology.sites().empty()) Shapes(topology, servers).keep(0, kept);
  return topology.keeping(kept, servers);
}

// A lower bound on the cost of any placement, from how many servers have room near one another: a server
// finds at most so many others on its node, so many in its rack, and the rest are further away. An answer
// that costs no more is a best one, and ends the search.

namespace {

struct Rung {
  int others = 0;        // others of a server that are so near or nearer
  double byte_cost = 0;  // of a byte to them
};

/// Rungs from the nearest; the last holds all servers.
std::vector<Rung> ladder_of(const Topology& topology) {
  std::vector<int> most(topology.weights().size(), 0);  // slots of a domain, by level
  for (const Domain& domain : topology.domains())
    if (domain.level >= 0)
      most[std::size_t(domain.level)] = std::max(most[std::size_t(domain.level)], domain.slots);
  std::vector<Rung> ladder;
  // Coarse levels may have less weight than fine ones: then what is further away costs no more.
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

/// The least cost of one server: the peers that it talks to most are nearest. Sorts `bytes`.
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
