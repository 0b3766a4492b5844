#include "plan/simulate/network.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace atl {
namespace {

// What leaves without its receiver's word: what Open MPI sends so between servers, and through shared memory (comm/mpi_lane.h).
constexpr std::int64_t kEagerBetween = 63 << 10, kEagerInside = 4 << 10;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

VirtualNetwork::VirtualNetwork(const Topology& topology, std::function<double(Rank)> notice)
    : topology_(topology),
      server_(topology.server_of_rank()),
      notice_(std::move(notice)),
      shares_({}),
      sums_first_(server_.size(), 1),
      small_(server_.size(), 0),
      taken_(server_.size(), 0) {
  add_links();
  shares_ = FairShares(std::move(capacities_));
}

int VirtualNetwork::add_resource(double capacity) {
  capacities_.push_back(capacity);
  return int(capacities_.size()) - 1;
}

void VirtualNetwork::add_links() {
  const auto both_ways = [this](double rate) { return Ways{add_resource(rate), add_resource(rate)}; };
  for (std::size_t r = 0; r < server_.size(); ++r) {
    inside_.push_back(both_ways(topology_.inside.rate));
    processors_.push_back(add_resource(std::min(1.0, topology_.cores)));
  }
  for (const ServerSpec& server : topology_.servers) {
    of_server_.push_back(both_ways(server.rate));
    for (const Bridge& bridge : topology_.bridges) {
      if (std::max(bridge.from, bridge.to) >= int(server.ranks.size())) continue;
      const Rank a = server.ranks[std::size_t(bridge.from)], b = server.ranks[std::size_t(bridge.to)];
      bridge_[{a, b}] = add_resource(topology_.bridge.rate);
      bridge_[{b, a}] = add_resource(topology_.bridge.rate);
    }
  }
  const int per_rack = topology_.rack_servers;
  for (int s = 0; per_rack > 0 && s < int(topology_.servers.size()); s += per_rack)
    of_rack_.push_back(both_ways(topology_.rack_rate));
}

/// A connection between servers takes the processors of both ends, too.
std::vector<Use> VirtualNetwork::uses_of(Rank from, Rank to) const {
  const int a = server_[std::size_t(from)], b = server_[std::size_t(to)];
  if (a == b) {
    if (const auto own = bridge_.find({from, to}); own != bridge_.end()) return {{own->second, 1}};
    return {{inside_[std::size_t(from)].out, 1}, {inside_[std::size_t(to)].in, 1}};
  }
  std::vector<Use> uses{{of_server_[std::size_t(a)].out, 1}, {of_server_[std::size_t(b)].in, 1}};
  if (const int racks = topology_.rack_servers; racks > 0 && a / racks != b / racks) {
    uses.push_back({of_rack_[std::size_t(a / racks)].out, 1});
    uses.push_back({of_rack_[std::size_t(b / racks)].in, 1});
  }
  if (topology_.byte_seconds > 0)
    for (const Rank rank : {from, to})
      uses.push_back({processors_[std::size_t(rank)], topology_.byte_seconds});
  return uses;
}

VirtualNetwork::Connection& VirtualNetwork::connection(Rank from, Rank to) {
  const auto [found, is_new] =
      connections_.try_emplace(std::int64_t(from) * std::int64_t(server_.size()) + to);
  Connection& c = found->second;
  if (!is_new) return c;
  c.from = from, c.to = to;
  c.between = server_[std::size_t(from)] != server_[std::size_t(to)];
  const bool bridged = bridge_.contains({from, to});
  c.latency = topology_.message_seconds + (c.between ? topology_.latency
                                           : bridged ? topology_.bridge.latency
                                                     : topology_.inside.latency);
  c.eager = c.between ? kEagerBetween : kEagerInside;
  c.uses = uses_of(from, to);
  return c;
}

Transfer& VirtualNetwork::match(Rank from, Rank to, Lane lane, int order, std::int64_t bytes, bool sends) {
  Matching& matching = matching_[{from, to, order}];
  auto &others = sends ? matching.awaited : matching.sent, &mine = sends ? matching.sent : matching.awaited;
  if (!others.empty()) {
    Transfer& met = *others.front();
    others.pop_front();
    ATOLL_CHECK(met.bytes == bytes, "rank {} sends {} bytes to rank {}, which expects {}", from,
                sends ? bytes : met.bytes, to, sends ? met.bytes : bytes);
    return met;
  }
  Transfer* fresh = nullptr;
  if (free_.empty()) {
    fresh = &transfers_.emplace_back();
  } else {
    fresh = free_.back();
    free_.pop_back();
  }
  *fresh = {.from = from, .to = to, .lane = lane, .bytes = bytes, .remaining = double(bytes)};
  mine.push_back(fresh);
  return *fresh;
}

Transfer& VirtualNetwork::send(Rank from, Rank to, Lane lane, int order, std::int64_t bytes) {
  Transfer& t = match(from, to, lane, order, bytes, true);
  Connection& c = connection(from, to);
  t.sent = true;
  if (lane == Lane::kSmall) ++small_[std::size_t(from)];
  c.queues[std::size_t(lane)].push_back(&t);
  if (!std::exchange(c.is_active, true)) active_.push_back(&c);
  return t;
}

/// The word of a receiver travels to the sender.
Transfer& VirtualNetwork::receive(Rank from, Rank to, Lane lane, int order, std::int64_t bytes) {
  Transfer& t = match(from, to, lane, order, bytes, false);
  const Connection& c = connection(from, to);
  t.awaited = true;
  if (bytes > c.eager) {
    t.may_leave = now_ + c.latency;
    arrivals_.push({t.may_leave, number_++, nullptr});
  }
  return t;
}

void VirtualNetwork::release(Transfer& transfer) {
  if (--transfer.holders == 0) free_.push_back(&transfer);
}

void VirtualNetwork::sums_go_first(Rank rank, bool first) {
  sums_first_[std::size_t(rank)] = first ? 1 : 0;
}

void VirtualNetwork::set_processors(Rank rank, double processors) {
  shares_.set(processors_[std::size_t(rank)], processors);
}

bool VirtualNetwork::may_leave(const Connection& c, const Transfer& t) const {
  return t.bytes <= c.eager || (t.awaited && t.may_leave <= now_);
}

/// Which lanes' first messages leave, and their parts of the connection's rate.
void VirtualNetwork::choose_lanes(Connection& c) const {
  c.of_lane = {};
  const auto leaves = [&](Lane lane) {
    const auto& queue = c.queues[std::size_t(lane)];
    return !queue.empty() && may_leave(c, *queue.front());
  };
  const bool holds = sums_first_[std::size_t(c.from)] && small_[std::size_t(c.from)] > 0;
  double parts = 0;
  for (const Lane lane : {Lane::kSmall, Lane::kBulk, Lane::kPrefetch}) {
    if (!leaves(lane) || (holds && lane != Lane::kSmall)) continue;
    c.of_lane[std::size_t(lane)] = 1;
    ++parts;
  }
  for (double& part : c.of_lane) part = parts > 0 ? part / parts : 0;
}

void VirtualNetwork::share() {
  flows_.clear(), flowing_.clear();
  std::erase_if(active_, [](Connection* c) {
    c->is_active = std::ranges::any_of(c->queues, [](const auto& queue) { return !queue.empty(); });
    return !c->is_active;
  });
  for (Connection* const c : active_) {
    choose_lanes(*c);
    c->rate = 0;
    if (std::ranges::all_of(c->of_lane, [](double part) { return part == 0; })) continue;
    flowing_.push_back(c), flows_.push_back(c->uses);
  }
  shares_.share(flows_, rates_);
  std::ranges::fill(taken_, 0);
  for (std::size_t f = 0; f < flowing_.size(); ++f) {
    Connection& c = *flowing_[f];
    c.rate = rates_[f];
    if (!c.between) continue;
    for (const Rank rank : {c.from, c.to}) taken_[std::size_t(rank)] += c.rate * topology_.byte_seconds;
  }
}

double VirtualNetwork::next_event() const {
  double next = arrivals_.empty() ? kNever : arrivals_.top().time;
  for (const Connection* const c : flowing_)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (c->of_lane[lane] > 0) next = std::min(next, c->leaves_at(lane, now_));
  return next;
}

double VirtualNetwork::Connection::leaves_at(std::size_t lane, double now) const {
  return now + queues[lane].front()->remaining / (rate * of_lane[lane]);
}

void VirtualNetwork::leave(Connection& c, Lane lane, const std::function<void(Rank)>& changed) {
  auto& queue = c.queues[std::size_t(lane)];
  Transfer& t = *queue.front();
  queue.pop_front();
  t.left = true;
  if (lane == Lane::kSmall) --small_[std::size_t(c.from)];
  (c.between ? bytes_between_ : bytes_inside_) += double(t.bytes);
  arrivals_.push({now_ + c.latency + notice_(c.to), number_++, &t});
  changed(c.from);
}

void VirtualNetwork::advance(double time, const std::function<void(Rank)>& changed) {
  const double before = now_, passed = time - now_;
  now_ = time;
  for (Connection* const c : flowing_)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (c->of_lane[lane] == 0) continue;
      // Compared as times: what is left may be less than they resolve.
      const bool leaves = c->leaves_at(lane, before) <= time;
      c->queues[lane].front()->remaining -= passed * c->rate * c->of_lane[lane];
      if (leaves) leave(*c, Lane(lane), changed);
    }
  while (!arrivals_.empty() && arrivals_.top().time <= now_) {
    Transfer* const t = arrivals_.top().transfer;
    arrivals_.pop();
    if (t == nullptr) continue;
    t->arrived = true;
    changed(t->to);
  }
}

}  // namespace atl
