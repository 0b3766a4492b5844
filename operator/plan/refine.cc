#include "operator/plan/refine.h"

#include <algorithm>
#include <limits>

namespace atl::ctl {
namespace {

constexpr double kWorthwhile = 1e-9;  // share of the whole cost; a smaller gain may be rounding
constexpr double kStrong = 0.125;     // share of a peer's bytes with a moved server that makes it look too

/// The first site of the domain that takes server 0, or else the domain's first.
int first_for_0(const Topology& topology, const Domain& domain) {
  for (int site = domain.first; site < domain.last; ++site)
    if (topology.sites()[std::size_t(site)].takes_first) return site;
  return domain.first;
}

}  // namespace

Refiner::Refiner(Assignment& assignment)
    : assignment_(assignment),
      topology_(assignment.topology()),
      is_waiting_(std::size_t(assignment.servers()), false),
      bytes_to_(std::size_t(assignment.servers()), 0),
      here_(std::size_t(assignment.servers()), 0),
      bytes_onto_(topology_.sites().size(), 0),
      around_(topology_.domains().size() - topology_.sites().size(), 0) {
  const auto& weights = topology_.weights();
  tolls_.push_back(weights[0]);
  for (std::size_t level = 0; level < weights.size(); ++level)
    tolls_.push_back((level + 1 < weights.size() ? weights[level + 1] : 0) - weights[level]);
  for (const Domain& domain : topology_.domains()) first_for_0_.push_back(first_for_0(topology_, domain));
}

void Refiner::look_at(int server) {
  if (is_waiting_[std::size_t(server)]) return;
  is_waiting_[std::size_t(server)] = true;
  waiting_.push_back(server);
}

bool Refiner::settle() {
  bool changed = false;
  least_ = std::max(kWorthwhile * assignment_.cost(), assignment_.rounding());
  while (!waiting_.empty()) {
    const int server = waiting_.front();
    waiting_.pop_front();
    is_waiting_[std::size_t(server)] = false;
    if (!assignment_.looks().are_left()) continue;
    const Change best = best_change(server);
    if (best.gain >= -least_) continue;
    apply(server, best);
    changed = true;
  }
  return changed;
}

void Refiner::settle_all() {
  do {
    for (int server = 0; server < assignment_.servers(); ++server) look_at(server);
  } while (settle() && assignment_.looks().are_left());
}

void Refiner::insert(int server) {
  try_moves(server, 0, std::numeric_limits<double>::infinity());
  end_moves();
  assignment_.put(server, best_.site);
}

Refiner::Change Refiner::best_change(int server) {
  const auto peers = assignment_.traffic().peers(server);
  try_moves(server, assignment_.paid(server) + assignment_.penalty(server, assignment_.site_of(server)), 0);
  for (const auto& [peer, bytes] : peers) bytes_to_[std::size_t(peer)] = bytes;
  try_swaps();
  for (const auto& [peer, bytes] : peers) bytes_to_[std::size_t(peer)] = 0;
  end_moves();
  return best_;
}

/// Finds the best move of a server that pays `now`, and leaves it in best_. Only moves that cost less than
/// `most` more count.
void Refiner::try_moves(int server, double now, double most) {
  const auto peers = assignment_.traffic().peers(server);
  for (const auto& [peer, bytes] : peers)
    if (const int at = assignment_.site_of(peer); at != Assignment::kNowhere)
      bytes_onto_[std::size_t(at)] += bytes;
  server_ = server;
  here_is_ = assignment_.site_of(server);
  now_ = now;
  best_ = {most, -1, -1};
  looked_ = 2 * peers.size();
  try_sites(0, 0, toll(-1) * assignment_.bytes_into(0)[std::size_t(server)]);
}

void Refiner::end_moves() {
  for (const auto& [peer, bytes] : assignment_.traffic().peers(server_))
    if (const int at = assignment_.site_of(peer); at != Assignment::kNowhere)
      bytes_onto_[std::size_t(at)] = 0;
  assignment_.looks().count(looked_);
}

/// Tries the free slots in a domain. `cost` is what the server's bytes cost, counted down to this domain. All
/// child domains without servers cost the same, so one of them is enough.
void Refiner::try_sites(int domain, int level, double cost) {
  around_[std::size_t(domain)] = cost;
  const Domain& around = topology_.domains()[std::size_t(domain)];
  const bool are_nodes = level + 1 == topology_.levels();
  if (are_nodes && assignment_.servers_in(domain) == around.slots) return;
  bool has_tried_empty = false;
  looked_ += around.children.size();
  for (int child = around.children.front(); child <= around.children.back(); ++child) {
    if (assignment_.servers_in(child) == 0) {
      if (has_tried_empty) continue;
      const int site = first_site(child);
      const double penalty = assignment_.penalty(server_, site);
      try_site(site, cost + penalty);
      has_tried_empty = penalty == 0;
    } else if (!are_nodes) {
      const double bytes = assignment_.bytes_into(child)[std::size_t(server_)];
      try_sites(child, level + 1, cost + toll(level) * bytes);
    } else if (const int site = around.first + child - around.children.front();
               site != here_is_ && assignment_.free_slots(site) > 0) {
      try_site(site,
               cost + toll(level) * bytes_onto_[std::size_t(site)] + assignment_.penalty(server_, site));
    }
  }
}

/// The first site of an empty domain that server_ may take.
int Refiner::first_site(int domain) const {
  return server_ == 0 ? first_for_0_[std::size_t(domain)] : topology_.domains()[std::size_t(domain)].first;
}

void Refiner::try_site(int site, double cost) {
  if (cost - now_ < best_.gain) best_ = {cost - now_, site, -1};
}

void Refiner::try_swaps() {
  cost_of_others_here();
  const int above = topology_.levels() - 2;  // the level above the nodes
  const double each = toll(above + 1);
  for (int other = 0; other < assignment_.servers(); ++other) {
    const int there = assignment_.site_of(other);
    const double cost_there = around_[std::size_t(topology_.domain_of(there, above))] +
                              each * bytes_onto_[std::size_t(there)] + assignment_.penalty(server_, there);
    double gain = cost_there - now_ + here_[std::size_t(other)] - assignment_.paid(other);
    if (other == 0) gain -= assignment_.penalty(0, there);
    if (gain >= best_.gain || there == here_is_) continue;
    // Both sums count the pair's bytes as if the two came together. In fact they stay as far apart as before.
    gain += 2 * bytes_to_[std::size_t(other)] * topology_.distance(here_is_, there);
    if (gain < best_.gain) best_ = {gain, -1, other};
  }
  looked_ += here_.size() * std::size_t(topology_.levels() + 1);
}

/// Leaves in here_ what each server would pay on the site of server_.
void Refiner::cost_of_others_here() {
  std::ranges::fill(here_, 0);
  for (int level = -1; level + 1 < topology_.levels(); ++level) {
    const auto bytes = assignment_.bytes_into(topology_.domain_of(here_is_, level));
    const double each = toll(level);
    for (std::size_t s = 0; s < here_.size(); ++s) here_[s] += each * bytes[s];
  }
  const double each = toll(topology_.levels() - 1);
  for (int s = assignment_.first_on(here_is_); s != Assignment::kNowhere; s = assignment_.next_to(s)) {
    for (const auto& [peer, bytes] : assignment_.traffic().peers(s)) here_[std::size_t(peer)] += each * bytes;
    looked_ += assignment_.traffic().peers(s).size();
  }
  here_[0] += assignment_.penalty(0, here_is_);
}

void Refiner::apply(int server, const Change& change) {
  if (change.server < 0)
    assignment_.put(server, change.site);
  else
    assignment_.swap(server, change.server);
  for (const int moved : {server, change.server}) {
    if (moved < 0) continue;
    look_at(moved);
    for (const auto& [peer, bytes] : assignment_.traffic().peers(moved))
      if (bytes >= kStrong * assignment_.bytes_into(0)[std::size_t(peer)]) look_at(peer);
  }
}

}  // namespace atl::ctl
