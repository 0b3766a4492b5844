#include "plan/simulate/network.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "comm/mpi_transport.h"

namespace atl {
namespace {

// What leaves without its receiver's word: pieces that Open MPI sends so between servers, of small messages all, and what it sends so
// through shared memory (comm/mpi_lane.h).
constexpr std::int64_t kEagerBetween = 63 << 10, kEagerInside = 4 << 10;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

VirtualNetwork::VirtualNetwork(const Topology& topology, std::function<double(Rank)> notice)
    : topology_(topology),
      server_(topology.server_of_rank()),
      notice_(std::move(notice)),
      shares_({}),
      sums_first_(server_.size(), 1),
      holds_(server_.size(), 0),
      posts_until_(server_.size(), 0),
      sees_until_(server_.size(), 0),
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
  c.latency = c.between ? topology_.latency : bridged ? topology_.bridge.latency : topology_.inside.latency;
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

bool VirtualNetwork::needs_word(const Connection& c, const Transfer& t) const {
  if (c.between) return t.lane != Lane::kSmall && t.bytes > kEagerBetween;
  return t.bytes > kEagerInside;
}

/// What has been handed over before it stands before the link, and nothing passes that any more.
void VirtualNetwork::wait_in_line(const Connection& c, Transfer& t) {
  Transfer* const bulk = c.leaving[std::size_t(Lane::kBulk)];
  if (t.lane != Lane::kSmall || !c.between || bulk == nullptr) return;
  const auto& servers = topology_.servers;
  const std::size_t here = servers[std::size_t(server_[std::size_t(c.from)])].ranks.size();
  const auto connections = double(here * (server_.size() - here));
  const double passed = std::min(bulk->remaining, double(kQueuedBytes) / connections);
  t.remaining += passed, bulk->remaining -= passed;
}

Transfer& VirtualNetwork::send(Rank from, Rank to, Lane lane, int order, std::int64_t bytes) {
  Transfer& t = match(from, to, lane, order, bytes, true);
  Connection& c = connection(from, to);
  double& posts_until = posts_until_[std::size_t(from)];
  posts_until = std::max(now_, posts_until) + topology_.message_seconds;
  t.ready = std::max(t.ready, posts_until);
  if (t.ready > now_) add_event(t.ready, Event::Kind::kMayLeave, nullptr);
  wait_in_line(c, t);
  c.queues[std::size_t(lane)].push_back(&t);
  if (!std::exchange(c.is_active, true)) active_.push_back(&c);
  is_stale_ = true;
  return t;
}

/// The word of a receiver travels to the sender.
Transfer& VirtualNetwork::receive(Rank from, Rank to, Lane lane, int order, std::int64_t bytes) {
  Transfer& t = match(from, to, lane, order, bytes, false);
  const Connection& c = connection(from, to);
  t.awaited = true;
  if (!needs_word(c, t)) return t;
  t.ready = std::max(t.ready, now_ + c.latency + topology_.message_seconds);
  add_event(t.ready, Event::Kind::kMayLeave, nullptr);
  return t;
}

void VirtualNetwork::release(Transfer& transfer) {
  if (--transfer.holders == 0) free_.push_back(&transfer);
}

void VirtualNetwork::sums_go_first(Rank rank, bool first) {
  is_stale_ |= std::exchange(sums_first_[std::size_t(rank)], char(first)) != char(first);
}

void VirtualNetwork::set_processors(Rank rank, double processors) {
  const int resource = processors_[std::size_t(rank)];
  if (shares_.capacity(resource) == processors) return;
  shares_.set(resource, processors);
  is_stale_ = true;
}

/// Bulk and prefetch leave in order. Each slot of the small lane has an order of its own.
Transfer* VirtualNetwork::first_that_may_leave(const Connection& c, Lane lane) const {
  for (Transfer* const t : c.queues[std::size_t(lane)]) {
    if (t->ready <= now_ && (t->awaited || !needs_word(c, *t))) return t;
    if (lane != Lane::kSmall) break;
  }
  return nullptr;
}

/// Which lanes' messages leave, and their parts of their connection's rate. Where sums go first, bulk to whomever is held as long as
/// something small leaves.
void VirtualNetwork::choose_lanes() {
  std::ranges::fill(holds_, 0);
  for (Connection* const c : active_) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) c->leaving[lane] = first_that_may_leave(*c, Lane(lane));
    if (c->leaving[std::size_t(Lane::kSmall)] != nullptr)
      holds_[std::size_t(c->from)] = sums_first_[std::size_t(c->from)];
  }
  for (Connection* const c : active_) {
    double parts = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (holds_[std::size_t(c->from)] && Lane(lane) != Lane::kSmall) c->leaving[lane] = nullptr;
      parts += c->leaving[lane] != nullptr ? 1 : 0;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      c->of_lane[lane] = c->leaving[lane] != nullptr ? 1 / parts : 0;
  }
}

void VirtualNetwork::share() {
  if (!std::exchange(is_stale_, false)) return;
  flows_.clear(), flowing_.clear();
  std::erase_if(active_, [](Connection* c) {
    c->is_active = std::ranges::any_of(c->queues, [](const Queue& queue) { return !queue.empty(); });
    if (!c->is_active) c->leaving = {};
    return !c->is_active;
  });
  choose_lanes();
  for (Connection* const c : active_) {
    if (std::ranges::all_of(c->leaving, [](const Transfer* t) { return t == nullptr; })) continue;
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
  double next = events_.empty() ? kNever : events_.top().time;
  for (const Connection* const c : flowing_)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (c->leaving[lane] != nullptr) next = std::min(next, c->leaves_at(lane, now_));
  return next;
}

void VirtualNetwork::leave(Connection& c, std::size_t lane, const std::function<void(Rank)>& changed) {
  Transfer& t = *std::exchange(c.leaving[lane], nullptr);
  std::erase(c.queues[lane], &t);
  t.left = true;
  (c.between ? bytes_between_ : bytes_inside_) += double(t.bytes);
  add_event(now_ + c.latency, Event::Kind::kComes, &t);
  changed(c.from);
  is_stale_ = true;
}

/// A message that has come is seen when its receiver looks next, and is through with those before it.
void VirtualNetwork::happen(const Event& event, const std::function<void(Rank)>& changed) {
  switch (event.kind) {
    case Event::Kind::kMayLeave:
      is_stale_ = true;
      break;
    case Event::Kind::kComes: {
      const Rank to = event.transfer->to;
      double& sees_until = sees_until_[std::size_t(to)];
      sees_until = std::max(now_ + notice_(to), sees_until) + topology_.message_seconds;
      add_event(sees_until, Event::Kind::kIsSeen, event.transfer);
      break;
    }
    case Event::Kind::kIsSeen:
      event.transfer->arrived = true;
      changed(event.transfer->to);
      break;
  }
}

void VirtualNetwork::advance(double time, const std::function<void(Rank)>& changed) {
  const double before = now_, passed = time - now_;
  now_ = time;
  for (Connection* const c : flowing_)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (c->leaving[lane] == nullptr) continue;
      // Compared as times: what is left may be less than they resolve.
      const bool leaves = c->leaves_at(lane, before) <= time;
      c->leaving[lane]->remaining -= passed * c->rate * c->of_lane[lane];
      if (leaves) leave(*c, lane, changed);
    }
  while (!events_.empty() && events_.top().time <= now_) {
    const Event event = events_.top();
    events_.pop();
    happen(event, changed);
  }
}

}  // namespace atl
