// A group of transfers over the links between devices (tensor/device_links.h): either messages, or one sum
// over all ranks. The ranks that take part first tell each other through the host's transport that they have
// reached it (linked_transport.cc says why).
#include "comm/linked_transport.h"

#include <algorithm>

#include "base/error.h"
#include "comm/wait_board.h"
#include "tensor/backend.h"

namespace atl {
namespace {

bool is_on_device(const Message& each) {
  return each.bytes > 0 && backend().memory.holds(each.data, std::size_t(each.bytes));
}

std::int64_t rounds_for(std::int64_t all, std::int64_t of_round) {
  return (all + of_round - 1) / of_round;
}

}  // namespace

const char* LinkedGroup::name_of(Does does) {
  return does == Does::kSums ? "sums" : does == Does::kSends ? "sends" : "receives";
}

Message LinkedGroup::of(Rank peer, Token& token) {
  return {peer, reinterpret_cast<std::byte*>(&token), sizeof token};
}

template <class Each>
void LinkedGroup::for_others(Each each) const {
  for (Rank r = 0; r < linked_.host.size(); ++r)
    if (r != linked_.host.rank()) each(r);
}

/// Forgets the slot's last group, and makes room for `tokens` tokens each way.
void LinkedGroup::forget(std::size_t tokens) {
  sends_.clear(), receives_.clear(), host_sends_.clear(), host_receives_.clear();
  sum_ = {};
  told_.assign(tokens, {});
  heard_.assign(tokens, {});
}

void LinkedGroup::take(std::span<const Message> sends, std::span<const Message> receives) {
  forget(sends.size() + receives.size());
  Token *tells = told_.data(), *hears = heard_.data();
  for (const Message& each : sends) {
    if (!is_on_device(each)) {
      host_sends_.push_back(each);
      continue;
    }
    sends_.push_back({each.peer, each.data, each.bytes});
    host_sends_.push_back(of(each.peer, *tells++ = {each.bytes, Does::kSends}));
  }
  for (const Message& each : receives) {
    if (!is_on_device(each)) {
      host_receives_.push_back(each);
      continue;
    }
    receives_.push_back({each.peer, each.data, each.bytes});
    host_receives_.push_back(of(each.peer, *hears++));
  }
  for (const DeviceMessage& each : receives_)
    host_sends_.push_back(of(each.peer, *tells++ = {each.bytes, Does::kReceives}));
  for (const DeviceMessage& each : sends_) host_receives_.push_back(of(each.peer, *hears++));
}

void LinkedGroup::take_sum(std::span<Real> values) {
  forget(std::size_t(linked_.host.size() - 1));
  sum_ = values;
  Token *tells = told_.data(), *hears = heard_.data();
  for_others([&](Rank other) {
    host_sends_.push_back(of(other, *tells++ = {std::int64_t(values.size_bytes()), Does::kSums}));
    host_receives_.push_back(of(other, *hears++));
  });
}

void LinkedGroup::start_host(Transport& host, Lane lane) {
  host_ = &host.start(lane, slot_, host_sends_, host_receives_);
  has_come_ = false;
  rounds_ = begun_ = over_ = 0;
  for (const auto* messages : {&sends_, &receives_})
    for (const DeviceMessage& each : *messages)
      rounds_ = std::max(rounds_, rounds_for(each.bytes, linked_.round_bytes));
  if (!sum_.empty()) rounds_ = rounds_for(Index(sum_.size()), values_of_round());
  if (rounds_ > 0) linked_.order.push_back(this);
}

bool LinkedGroup::done() {
  if (!has_come_) {
    if (!host_->done()) return false;
    check_tokens();
    has_come_ = true;
  }
  try {
    return rounds_done();
  } catch (const Error& error) {
    fail("{}; on {}, for messages from or to {}", error.what(), names_of(linked_.host, {linked_.host.rank()}),
         names_of(linked_.host, outstanding()));
  }
}

std::vector<Rank> LinkedGroup::outstanding() const {
  if (!has_come_) return host_->outstanding();
  std::vector<Rank> ranks;
  if (!sum_.empty()) for_others([&](Rank other) { ranks.push_back(other); });
  for (const auto* messages : {&sends_, &receives_})
    for (const DeviceMessage& each : *messages) ranks.push_back(each.peer);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// Checks that the peers have come to the same messages. Tokens of receives come first, then those of sends;
/// a sum has one token from each other rank.
void LinkedGroup::check_tokens() const {
  const Token* hears = heard_.data();
  const auto check = [&](Rank peer, std::int64_t mine, Does does, Does other_does) {
    const auto [bytes, done] = *hears++;
    ATOLL_CHECK(bytes == mine && done == other_does,
                "rank {} {} {} bytes where rank {} {} {}: their transfers are in different orders", peer,
                name_of(done), bytes, linked_.host.rank(), name_of(does), mine);
  };
  for (const DeviceMessage& each : receives_) check(each.peer, each.bytes, Does::kReceives, Does::kSends);
  for (const DeviceMessage& each : sends_) check(each.peer, each.bytes, Does::kSends, Does::kReceives);
  if (sum_.empty()) return;
  for_others([&](Rank peer) { check(peer, std::int64_t(sum_.size_bytes()), Does::kSums, Does::kSums); });
}

/// Launches the rounds whose turn has come. True when all rounds are over.
bool LinkedGroup::rounds_done() {
  while (over_ < rounds_) {
    if (begun_ == over_) {
      if (linked_.order.front() != this) return false;
      begin_round();
      if (++begun_ == rounds_) linked_.order.pop_front();
    }
    if (!linked_.links->done(slot_)) return false;
    ++over_;
  }
  return true;
}

void LinkedGroup::begin_round() {
  if (sum_.empty())
    return linked_.links->begin(slot_, part(sends_, sent_part_), part(receives_, received_part_));
  const Index at = begun_ * values_of_round();
  const Index count = std::min(values_of_round(), Index(sum_.size()) - at);
  linked_.links->begin_sum(slot_, sum_.subspan(std::size_t(at), std::size_t(count)));
}

/// The part of each message that travels in the round that begins next.
std::span<const DeviceMessage> LinkedGroup::part(const std::vector<DeviceMessage>& whole,
                                                 std::vector<DeviceMessage>& into) const {
  into.clear();
  const std::int64_t at = begun_ * linked_.round_bytes;
  for (const DeviceMessage& each : whole)
    if (at < each.bytes)
      into.push_back({each.peer, each.data + at, std::min(linked_.round_bytes, each.bytes - at)});
  return into;
}

Index LinkedGroup::values_of_round() const {
  return std::max(Index(1), linked_.round_bytes / Index(sizeof(Real)));
}

}  // namespace atl
