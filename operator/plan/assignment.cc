#include "operator/plan/assignment.h"

#include <algorithm>

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

/// A byte to a peer that shares the domain of level l − 1 but not that of level l costs the weight of level l:
/// so it is enough to know how many bytes go into each domain.
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
  // Both sums count the pair as if it came together; it stays as far apart as it was.
  if (found != peers.end() && found->server == b) gain += 2 * found->bytes * topology_->distance(here, there);
  return gain;
}

}  // namespace atl::ctl
