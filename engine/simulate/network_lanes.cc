// Long messages: which lanes of a connection send, how fast, and until when.
#include <algorithm>

#include "comm/transports.h"
#include "simulate/network.h"

namespace atl {
namespace {

// Where more flows than kManyFlows share links, rates are computed again only after a pause, which is a small
// part of the time that most messages take. Until then, the share of a flow that has ended stays unused, and
// a new flow waits. With fewer flows, rates are exact. With hundreds of thousands, the pause is up to four
// times as long.
constexpr std::size_t kManyFlows = 1024, kVeryMany = 1U << 16;
constexpr double kPause = 1.0 / 64, kLongest = 4;

constexpr std::size_t kSmallLane = std::size_t(Lane::kSmall);

}  // namespace

void VirtualNetwork::mark(Connection& c) {
  if (!std::exchange(c.is_stale, true)) stale_.push_back(&c);
}

void VirtualNetwork::mark_all_of(Rank rank) {
  for (Connection* const c : sender(rank).connections) mark(*c);
}

/// Lets a small message wait behind the bytes of bulk that were handed over before it: they are queued for
/// the link, and the message can't overtake them.
void VirtualNetwork::wait_in_line(Connection& c, Transfer& t) {
  Transfer* const bulk = c.leaving[std::size_t(Lane::kBulk)];
  if (t.lane != Lane::kSmall || !c.path.between || bulk == nullptr) return;
  settle(c);
  const std::size_t here = topology_.servers[std::size_t(links_.server(c.from))].ranks.size();
  const auto connections = double(here * (senders_.size() - here));
  const double passed = std::min(bulk->remaining, double(kQueuedBytes) / connections);
  t.remaining += passed, bulk->remaining -= passed;
  schedule(c);
}

/// The first message of a lane that may leave; null: none. Bulk and prefetch leave in order. Each slot of the
/// small lane has an order of its own.
Transfer* VirtualNetwork::first_that_may_leave(const Connection& c, Lane lane) const {
  for (Transfer* const t : c.queues[std::size_t(lane)]) {
    if (t->ready <= now_ && (t->awaited || !needs_word(*t))) return t;
    if (lane != Lane::kSmall) break;
  }
  return nullptr;
}

/// Where sums go first, all bulk of a rank is held while a small message may leave. A change of this concerns
/// all of the rank's connections.
void VirtualNetwork::look_for_small_ones() {
  for (std::size_t i = 0; i < stale_.size(); ++i) {
    Connection& c = *stale_[i];
    const bool has_small = first_that_may_leave(c, Lane::kSmall) != nullptr;
    if (std::exchange(c.has_small, has_small) == has_small) continue;
    Sender& s = sender(c.from);
    const bool held = s.holds_bulk();
    s.small_ones += has_small ? 1 : -1;
    if (s.holds_bulk() != held) mark_all_of(c.from);
  }
}

/// Chooses the lanes that send; they share their connection's rate equally.
void VirtualNetwork::choose_lanes(Connection& c) {
  std::array<Transfer*, kLanes> chosen{};
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    if (lane == kSmallLane || !sender(c.from).holds_bulk())
      chosen[lane] = first_that_may_leave(c, Lane(lane));
  const auto parts = double(kLanes - std::ranges::count(chosen, nullptr));
  if (chosen == c.leaving && parts == c.parts) return;  // `parts` may count a message that has left
  settle(c);
  c.leaving = chosen, c.parts = parts;
  set_flow(c, c.parts > 0);
  schedule(c);
}

void VirtualNetwork::set_flow(Connection& c, bool flows) {
  if (flows == (c.flow >= 0)) return;
  if (flows) {
    c.flow = shares_.add(c.path.uses);
    of_flow_.resize(std::max(of_flow_.size(), std::size_t(c.flow) + 1));
    of_flow_[std::size_t(c.flow)] = &c;
  } else {
    set_rate(c, 0);
    of_flow_[std::size_t(c.flow)] = nullptr;
    shares_.remove(std::exchange(c.flow, -1));
  }
  if (c.path.between) sender(c.from).flows_between += flows ? 1 : -1;
  for (const Rank rank : {c.from, c.to}) {
    sender(rank).flows += flows ? 1 : -1;
    if (sender(rank).flows == 0) sender(rank).taken = 0;  // clears the rest of rounding errors
  }
}

void VirtualNetwork::set_rate(Connection& c, double rate) {
  settle(c);
  const double more = rate - std::exchange(c.rate, rate);
  c.bottleneck = shares_.bottleneck(c.flow);
  c.stood = links_.taken_by_short(c.bottleneck);
  if (c.path.byte_seconds == 0) return;
  for (const Rank rank : {c.from, c.to}) {
    sender(rank).taken += more * c.path.byte_seconds;
    listener_.processors_change(rank);
  }
}

/// Subtracts the bytes that have left by now. The flow stood still while short messages took its bottleneck.
void VirtualNetwork::settle(Connection& c) {
  const double since = std::exchange(c.since, now_);
  if (c.flow < 0) return;
  const double taken = links_.taken_by_short(c.bottleneck);
  const double passed = std::max(0.0, now_ - since - (taken - std::exchange(c.stood, taken)));
  if (passed == 0) return;
  for (Transfer* const t : c.leaving)
    if (t != nullptr) t->remaining = std::max(0.0, t->remaining - passed * c.rate / c.parts);
}

/// Schedules the event at which the next message is through. If the flow has become slower, the event that is
/// already scheduled comes too early, and is then scheduled again.
void VirtualNetwork::schedule(Connection& c) {
  c.due = kNever;
  for (const Transfer* const t : c.leaving)
    if (t != nullptr && c.rate > 0) c.due = std::min(c.due, c.leaves_at(*t));
  if (c.due >= c.asked) return;
  c.asked = c.due;
  add_event({.time = c.due, .kind = Event::Kind::kLeaves, .connection = &c});
}

void VirtualNetwork::leave(Connection& c, std::size_t lane) {
  Transfer& t = *std::exchange(c.leaving[lane], nullptr);
  std::erase(c.queues[lane], &t);
  tell_left(t);
  add_event({.time = now_ + c.path.latency, .kind = Event::Kind::kComes, .transfer = &t});
}

/// Ends the messages that are through. If short messages came meanwhile, the flow stood still, and no message
/// is through yet.
void VirtualNetwork::leave_all(Connection& c, const Event& event) {
  c.asked = kNever;
  const bool stood = c.flow >= 0 && links_.taken_by_short(c.bottleneck) > c.stood;
  if (c.due > event.time || stood) {
    settle(c);
    schedule(c);
    return;
  }
  // Compares times, because the remaining bytes may take less time than a double resolves.
  std::array<bool, kLanes> through{};
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    through[lane] = c.leaving[lane] != nullptr && c.leaves_at(*c.leaving[lane]) <= event.time;
  settle(c);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    if (through[lane]) leave(c, lane);
  schedule(c);
  mark(c);
}

/// Sets the next pause, from the median time that the messages under way still take.
void VirtualNetwork::set_pause() {
  if (shares_.flows() <= kManyFlows) return;
  lengths_.clear();
  for (const Connection* const c : of_flow_)
    if (c != nullptr && c->rate > 0)
      for (const Transfer* const t : c->leaving)
        if (t != nullptr) lengths_.push_back(t->remaining * c->parts / c->rate);
  if (lengths_.empty()) return;
  const auto middle = lengths_.begin() + std::ptrdiff_t(lengths_.size() / 2);
  std::ranges::nth_element(lengths_, middle);
  const double times = std::clamp(double(shares_.flows()) / double(kVeryMany), 1.0, kLongest);
  next_share_ = now_ + kPause * times * *middle;
}

void VirtualNetwork::share() {
  look_for_small_ones();
  for (Connection* const c : stale_) {
    c->is_stale = false;
    choose_lanes(*c);
  }
  stale_.clear();
  if (shares_.is_settled()) return;
  if (shares_.flows() > kManyFlows && now_ < next_share_) {
    if (!std::exchange(share_is_due_, true)) add_event({.time = next_share_, .kind = Event::Kind::kShares});
    return;
  }
  for (const int flow : shares_.settle()) {
    Connection& c = *of_flow_[std::size_t(flow)];
    set_rate(c, shares_.rate(flow));
    schedule(c);
  }
  set_pause();
}

}  // namespace atl
