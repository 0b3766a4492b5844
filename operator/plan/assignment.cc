#include "operator/plan/assignment.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace atl::ctl {

Assignment::Assignment(const Topology& topology, const Traffic& traffic, Looks& looks)
    : topology_(&topology),
      traffic_(&traffic),
      looks_(&looks),
      site_of_(std::size_t(traffic.servers()), kNowhere),
      servers_in_(topology.domains().size(), 0),
      first_on_(topology.sites().size(), kNowhere),
      next_to_(std::size_t(traffic.servers()), kNowhere),
      paid_(std::size_t(traffic.servers()), 0),
      bytes_into_((topology.domains().size() - topology.sites().size()) * std::size_t(traffic.servers()), 0) {
  for (const Site& site : topology.sites()) free_.push_back(site.slots);
  double dearest = 0;
  for (const double weight : topology.weights()) dearest = std::max(dearest, weight);
  constexpr double kPrecision = 1e-12;
  rounding_ = kPrecision * dearest * traffic.total_bytes();
  penalty_ = 1 + 2 * dearest * traffic.total_bytes();
  looks.count((bytes_into_.size() + free_.size() + servers_in_.size()) / 4);
}

void Assignment::put(int server, int site) {
  ATOLL_CHECK(site == kNowhere || site == site_of(server) || free_slots(site) > 0, "node {} is full",
              topology_->sites()[std::size_t(site)].node);
  move(server, site);
}

void Assignment::swap(int a, int b) {
  const int here = site_of(a);
  move(a, site_of(b));
  move(b, here);
}

void Assignment::move(int server, int site) {
  const int before = std::exchange(site_of_[std::size_t(server)], site);
  if (before == site) return;
  if (before != kNowhere) leave(server, before);
  if (site != kNowhere) enter(server, site);
  int apart = -1;  // the coarsest level at which the domain changes
  if (before != kNowhere && site != kNowhere)
    while (topology_->domain_of(before, apart) == topology_->domain_of(site, apart)) ++apart;
  for (int level = apart; level + 1 < topology_->levels(); ++level) {
    if (before != kNowhere) add_bytes(server, topology_->domain_of(before, level), -1);
    if (site != kNowhere) add_bytes(server, topology_->domain_of(site, level), 1);
  }
  double paid = 0;
  for (const auto& [peer, bytes] : traffic_->peers(server)) {
    const int at = site_of(peer);
    if (at == kNowhere) continue;
    const double is = site == kNowhere ? 0 : bytes * topology_->distance(site, at);
    const double was = before == kNowhere ? 0 : bytes * topology_->distance(before, at);
    paid_[std::size_t(peer)] += is - was;
    paid += is;
  }
  paid_[std::size_t(server)] = paid;
  looks_->count(traffic_->peers(server).size() * std::size_t(2 * (topology_->levels() - apart)));
}

/// Adds the server's bytes to the sums of its peers, or subtracts them.
void Assignment::add_bytes(int server, int domain, int sign) {
  double* const into = bytes_into_.data() + std::size_t(domain) * site_of_.size();
  for (const auto& [peer, bytes] : traffic_->peers(server)) into[peer] += sign * bytes;
}

void Assignment::leave(int server, int site) {
  ++free_[std::size_t(site)];
  int* link = &first_on_[std::size_t(site)];
  while (*link != server) link = &next_to_[std::size_t(*link)];
  *link = next_to(server);
  for (int level = -1; level < topology_->levels(); ++level)
    --servers_in_[std::size_t(topology_->domain_of(site, level))];
}

void Assignment::enter(int server, int site) {
  --free_[std::size_t(site)];
  next_to_[std::size_t(server)] = std::exchange(first_on_[std::size_t(site)], server);
  for (int level = -1; level < topology_->levels(); ++level)
    ++servers_in_[std::size_t(topology_->domain_of(site, level))];
}

void Assignment::restore(const std::vector<int>& site_of) {
  std::vector<int> moved;
  for (int s = 0; s < servers(); ++s)
    if (site_of_[std::size_t(s)] != site_of[std::size_t(s)]) moved.push_back(s);
  for (const int server : moved) put(server, kNowhere);
  for (const int server : moved) put(server, site_of[std::size_t(server)]);
}

double Assignment::cost() const {
  double twice = 0, penalties = 0;
  for (int s = 0; s < servers(); ++s) {
    if (site_of(s) == kNowhere) continue;
    twice += paid(s);
    penalties += penalty(s, site_of(s));
  }
  return twice / 2 + penalties;
}

}  // namespace atl::ctl
