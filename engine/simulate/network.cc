#include "simulate/network.h"

#include <algorithm>

#include "base/error.h"
#include "comm/transports.h"

namespace atl {

// Links and processors as resources.

VirtualLinks::VirtualLinks(const Topology& topology, FairShares& shares)
    : topology_(topology), shares_(shares), server_(topology.server_of_rank()) {
  int resources = 0;
  const auto add = [&](double capacity) {
    return resources = 1 + shares.add_resource(capacity), resources - 1;
  };
  const auto both_ways = [&](double rate) { return Ways{add(rate), add(rate)}; };
  for (std::size_t r = 0; r < server_.size(); ++r) {
    inside_.push_back(both_ways(topology.inside.rate));
    processors_.push_back(add(std::min(1.0, topology.cores)));
  }
  for (const ServerSpec& server : topology.servers) {
    of_server_.push_back(both_ways(server.rate));
    for (const Bridge& bridge : topology.bridges) {
      if (std::max(bridge.from, bridge.to) >= int(server.ranks.size())) continue;
      const Rank a = server.ranks[std::size_t(bridge.from)], b = server.ranks[std::size_t(bridge.to)];
      bridge_[{a, b}] = add(topology.bridge.rate);
      bridge_[{b, a}] = add(topology.bridge.rate);
    }
  }
  const int per_rack = topology.rack_servers;
  for (int s = 0; per_rack > 0 && s < int(topology.servers.size()); s += per_rack)
    of_rack_.push_back(both_ways(topology.rack_rate));
  lines_.resize(std::size_t(resources));
}

Path VirtualLinks::path(Rank from, Rank to) const {
  const int a = server(from), b = server(to);
  Path path{.between = a != b, .latency = topology_.inside.latency};
  if (a == b) {
    if (const auto own = bridge_.find({from, to}); own != bridge_.end()) {
      path.uses.add({own->second, 1});
      path.latency = topology_.bridge.latency;
      return path;
    }
    path.byte_seconds = topology_.inside.byte_seconds;
    path.uses.add({inside_[std::size_t(from)].out, 1});
    path.uses.add({inside_[std::size_t(to)].in, 1});
    add_processors(path, from, to);
    return path;
  }
  path.latency = topology_.latency, path.byte_seconds = topology_.byte_seconds;
  path.uses.add({of_server_[std::size_t(a)].out, 1});
  path.uses.add({of_server_[std::size_t(b)].in, 1});
  if (const int racks = topology_.rack_servers; racks > 0 && a / racks != b / racks) {
    path.uses.add({of_rack_[std::size_t(a / racks)].out, 1});
    path.uses.add({of_rack_[std::size_t(b / racks)].in, 1});
  }
  add_processors(path, from, to);
  return path;
}

void VirtualLinks::add_processors(Path& path, Rank from, Rank to) const {
  if (path.byte_seconds > 0)
    for (const Rank rank : {from, to}) path.uses.add({processor(rank), path.byte_seconds});
}

double VirtualLinks::pass(const Path& path, double bytes, double now, std::size_t mine) {
  double gone = now;
  for (const Use& use : path.uses.all()) {
    Line& line = lines_[std::size_t(use.resource)];
    const double seconds = bytes * use.per_unit / shares_.capacity(use.resource);
    const auto long_ones = double(shares_.flows_of(use.resource) - std::exchange(mine, 0));
    line.until = std::max(now, line.until) + seconds, line.taken += seconds;
    gone = std::max(gone, line.until + long_ones * seconds);
  }
  return gone;
}

// Messages that share links.

namespace {

// The most bytes of a message that Open MPI sends before its receiver is ready: between servers, and through
// shared memory. Between servers, messages of the small lane never wait for the receiver (comm/mpi_lane.h).
constexpr std::int64_t kEagerBetween = 63 << 10, kEagerInside = 4 << 10;
// A message up to this size takes its turn on links and isn't given a share of them, because it has only a
// few frames. With many ranks, nearly all messages are so short.
constexpr std::int64_t kShort = 4 << 10;

}  // namespace

VirtualNetwork::VirtualNetwork(const Topology& topology, Listener& listener)
    : topology_(topology),
      listener_(listener),
      links_(topology, shares_),
      matching_(topology.ranks()),
      senders_(std::size_t(topology.ranks())) {}

VirtualNetwork::Connection& VirtualNetwork::connection(Rank from, Rank to) {
  const auto [found, is_new] = connections_.try_emplace(pair(from, to));
  Connection& c = found->second;
  if (!is_new) return c;
  c.from = from, c.to = to;
  c.path = links_.path(from, to);
  sender(from).connections.push_back(&c);
  return c;
}

bool VirtualNetwork::needs_word(const Transfer& t) const {
  if (links_.between(t.from, t.to)) return t.lane != Lane::kSmall && t.bytes > kEagerBetween;
  return t.bytes > kEagerInside;
}

double VirtualNetwork::processor_seconds(Rank from, Rank to, std::int64_t bytes) const {
  if (bytes > kShort) return topology_.message_seconds;
  const double of_byte = links_.between(from, to) ? topology_.byte_seconds : topology_.inside.byte_seconds;
  return topology_.message_seconds + of_byte * double(bytes);
}

/// Whether the message goes at once: it is short, and no long message of its lane is before it.
bool VirtualNetwork::goes_at_once(const Transfer& t) const {
  if (t.bytes > kShort) return false;
  const auto found = connections_.find(pair(t.from, t.to));
  return found == connections_.end() || found->second.queues[std::size_t(t.lane)].empty();
}

Transfer& VirtualNetwork::send(Rank from, Rank to, Lane lane, int order, std::int64_t bytes,
                               MessageGroup& group) {
  Transfer& t = matching_.match(from, to, lane, order, bytes, true);
  t.sent_with = &group, ++group.under_way;
  double& posts_until = sender(from).posts_until;
  posts_until = std::max(now_, posts_until) + topology_.message_seconds;
  t.ready = std::max(t.ready, posts_until);
  if (goes_at_once(t)) {
    if (t.ready <= now_) {
      pass(t);
      return t;
    }
    auto& line = sender(from).hands_over;
    line.emplace_back(t.ready, &t);
    if (line.size() == 1) add_event({.time = t.ready, .kind = Event::Kind::kHandsOver, .rank = from});
    return t;
  }
  Connection& c = connection(from, to);
  if (t.ready > now_) add_event({.time = t.ready, .kind = Event::Kind::kMayLeave, .connection = &c});
  wait_in_line(c, t);
  c.queues[std::size_t(lane)].push_back(&t);
  mark(c);
  return t;
}

/// Adds a receive. If the sender waits for the receiver to be ready, that word arrives after the link's
/// latency.
Transfer& VirtualNetwork::receive(Rank from, Rank to, Lane lane, int order, std::int64_t bytes,
                                  MessageGroup& group) {
  Transfer& t = matching_.match(from, to, lane, order, bytes, false);
  t.awaited = true, t.received_with = &group;
  if (!t.arrived) ++group.under_way;
  if (!needs_word(t)) return t;
  Connection& c = connection(from, to);
  t.ready = std::max(t.ready, now_ + c.path.latency + topology_.message_seconds);
  add_event({.time = t.ready, .kind = Event::Kind::kMayLeave, .connection = &c});
  return t;
}

void VirtualNetwork::sums_go_first(Rank rank, bool first) {
  Sender& s = sender(rank);
  if (std::exchange(s.sums_first, first) != first && s.small_ones > 0) mark_all_of(rank);
}

/// Sends a short message. Its sender is done with it at once.
void VirtualNetwork::pass(Transfer& t) {
  const auto found = connections_.find(pair(t.from, t.to));
  if (found != connections_.end()) wait_in_line(found->second, t);
  const Path path = links_.path(t.from, t.to);
  const Sender& s = sender(t.from);
  const bool first = t.lane == Lane::kSmall && s.sums_first;
  const std::size_t own = path.between ? s.flows_between : shares_.flows_of(path.uses.all()[0].resource);
  const double gone = links_.pass(path, t.remaining, now_, first ? own : 0);
  tell_left(t);
  add_event({.time = gone + path.latency, .kind = Event::Kind::kComes, .transfer = &t});
}

void VirtualNetwork::tell_left(Transfer& t) {
  t.left = true;
  if (--t.sent_with->under_way == 0) listener_.may_go_on(t.from);
}

/// A message that has come is seen at its receiver's next look, once the messages before it have been
/// handled.
void VirtualNetwork::come(Transfer& t) {
  double& sees_until = sender(t.to).sees_until;
  sees_until = std::max(now_ + listener_.notice(t.to), sees_until) + topology_.message_seconds;
  auto& line = sender(t.to).sees;
  line.emplace_back(sees_until, &t);
  if (line.size() == 1) add_event({.time = sees_until, .kind = Event::Kind::kSees, .rank = t.to});
}

void VirtualNetwork::hand_over_next(Rank rank) {
  auto& line = sender(rank).hands_over;
  Transfer& t = *line.front().second;
  line.pop_front();
  if (!line.empty()) add_event({.time = line.front().first, .kind = Event::Kind::kHandsOver, .rank = rank});
  pass(t);
}

void VirtualNetwork::see_next(Rank rank) {
  auto& line = sender(rank).sees;
  Transfer& t = *line.front().second;
  line.pop_front();
  if (!line.empty()) add_event({.time = line.front().first, .kind = Event::Kind::kSees, .rank = rank});
  t.arrived = true;
  if (t.received_with != nullptr && --t.received_with->under_way == 0) listener_.may_go_on(rank);
}

void VirtualNetwork::add_event(Event event) {
  event.number = number_++;
  events_.push(event);
}

/// Whether the event is void, because its connection has become faster since it was scheduled.
bool VirtualNetwork::is_void(const Event& e) const {
  return e.kind == Event::Kind::kLeaves && e.time != e.connection->asked;
}

double VirtualNetwork::next_event() {
  while (!events_.empty() && is_void(events_.top())) events_.pop();
  return events_.empty() ? kNever : events_.top().time;
}

void VirtualNetwork::happen(const Event& event) {
  switch (event.kind) {
    case Event::Kind::kHandsOver:
      hand_over_next(event.rank);
      break;
    case Event::Kind::kMayLeave:
      mark(*event.connection);
      break;
    case Event::Kind::kLeaves:
      if (!is_void(event)) leave_all(*event.connection, event);
      break;
    case Event::Kind::kComes:
      come(*event.transfer);
      break;
    case Event::Kind::kSees:
      see_next(event.rank);
      break;
    case Event::Kind::kShares:
      share_is_due_ = false;
      break;
  }
}

void VirtualNetwork::advance(double time) {
  now_ = time;
  while (!events_.empty() && events_.top().time <= now_) {
    const Event event = events_.top();
    events_.pop();
    happen(event);
  }
}

Transfer& Matching::fresh() {
  if (free_.empty()) return transfers_.emplace_back();
  Transfer& again = *free_.back();
  free_.pop_back();
  return again;
}

Transfer& Matching::match(Rank from, Rank to, Lane lane, int order, std::int64_t bytes, bool sends) {
  const std::int64_t key = (from * ranks_ + to) * 16 + order - kFirstOrder;
  const auto [found, is_new] = lines_.try_emplace(key);
  Line& line = found->second;
  if (!is_new && line.sent != sends) {
    Transfer& met = *line.first;
    line.first = met.next;
    if (line.first == nullptr) lines_.erase(found);
    ATOLL_CHECK(met.bytes == bytes, "rank {} sends {} bytes to rank {}, which expects {}", from,
                sends ? bytes : met.bytes, to, sends ? met.bytes : bytes);
    return met;
  }
  Transfer& mine = fresh();
  mine = {.from = from, .to = to, .lane = lane, .bytes = bytes, .remaining = double(bytes)};
  (is_new ? line.first : line.last->next) = &mine;
  line.last = &mine, line.sent = sends;
  return mine;
}

void Matching::release(Transfer& transfer) {
  if (--transfer.holders == 0) free_.push_back(&transfer);
}

}  // namespace atl
