// A message is a rendezvous. The side that comes second finds the other side's note in the channel of their
// pair and order, and copies. One lock guards the whole group, because tests need clarity, not bandwidth.
#include "comm/transports.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace atl {
namespace {

constexpr int kOrders = slots_of(Lane::kSmall) + kLanes;

/// Messages match within an order. Each slot of the small lane has an order; bulk and prefetch have one each.
constexpr int order_of(Lane lane, int slot) {
  return lane == Lane::kSmall ? slot : slots_of(Lane::kSmall) + int(lane);
}

/// One posted half of a message: a send or a receive. It lives in its group's Pending until both halves have
/// met.
struct Note {
  Message message{};
  bool done = false;
  Note* next = nullptr;  // the next unmet note in the same queue
};

/// Notes in the order in which they were posted. They form a linked list, so that the order in which threads
/// come doesn't decide whether memory is allocated.
class Queue {
 public:
  bool empty() const { return first_ == nullptr; }
  void push(Note& note) {
    note.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &note;
    last_ = &note;
  }
  Note& pop() { return *std::exchange(first_, first_->next); }
  template <class Predicate>
  void remove_if(Predicate is_removed) {
    for (Note* each = std::exchange(first_, nullptr); each != nullptr;) {
      Note* const next = each->next;
      if (!is_removed(each)) push(*each);
      each = next;
    }
  }

 private:
  Note *first_ = nullptr, *last_ = nullptr;
};

struct Channel {
  Queue sends, receives;  // at most one of the two holds anything
};

/// Wakes the thread that polls for a rank's messages.
struct Bell {
  std::mutex lock;
  std::function<void()> told;

  void ring() {
    std::lock_guard guard(lock);
    if (told) told();
  }
};

struct Group {
  std::mutex lock;  // not held while a bell rings
  std::deque<Bell> bells;
  std::vector<std::string> hosts;
  std::vector<bool> left;
  std::map<std::pair<Rank, Rank>, std::array<Channel, kOrders>> channels;  // (from, to), by order
};

void copy(Note& send, Note& receive, Rank from, Rank to) {
  ATOLL_CHECK(send.message.bytes == receive.message.bytes,
              "rank {} sends {} bytes to rank {}, which expects {}", from, send.message.bytes, to,
              receive.message.bytes);
  std::memcpy(receive.message.data, send.message.data, std::size_t(send.message.bytes));
  send.done = receive.done = true;
}

class LocalPending : public Pending {
 public:
  LocalPending(Group& group, Rank rank, int order) : group_(group), rank_(rank), order_(order) {}

  void start(std::span<const Message> sends, std::span<const Message> receives) {
    post(sends, receives);
    if (met_.empty()) return;
    met_.push_back(rank_);
    for (const Rank each : met_) group_.bells[std::size_t(each)].ring();
  }

  bool done() override {
    std::lock_guard guard(group_.lock);
    bool all = true;
    moved_ = std::ranges::count(notes_, true, &Note::done);
    for (const Note& note : notes_) {
      if (note.done) continue;
      all = false;
      if (group_.left[std::size_t(note.message.peer)])
        fail("rank {} on {} has left the job: its own output says why", note.message.peer,
             group_.hosts[std::size_t(note.message.peer)]);
    }
    return all;
  }

  std::vector<Rank> outstanding() const override {
    std::lock_guard guard(group_.lock);
    std::vector<Rank> ranks;
    for (const Note& note : notes_)
      if (!note.done) ranks.push_back(note.message.peer);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

  std::int64_t moved() const override { return moved_; }

  /// Takes unmet notes out of their channels, so that no rank copies from or to their buffers any more.
  void withdraw() {
    std::lock_guard guard(group_.lock);
    for (auto& [pair, channels] : group_.channels) {
      for (Channel& channel : channels) {
        channel.sends.remove_if([this](Note* n) { return owns(n); });
        channel.receives.remove_if([this](Note* n) { return owns(n); });
      }
    }
    notes_.clear();
  }

 private:
  void post(std::span<const Message> sends, std::span<const Message> receives) {
    std::lock_guard guard(group_.lock);
    const std::size_t count = sends.size() + receives.size();
    notes_.reserve(std::max(count, kFew));
    met_.reserve(std::max(count, kFew) + 1);
    notes_.assign(count, Note{});
    moved_ = 0;
    met_.clear();
    auto note = notes_.begin();
    for (const Message& m : receives) post_receive(*note++ = {m});
    for (const Message& m : sends) post_send(*note++ = {m});
  }

  bool owns(const Note* note) const {
    return !notes_.empty() && note >= &notes_.front() && note <= &notes_.back();
  }

  void post_send(Note& note) {
    Channel& channel = channel_of(rank_, note.message.peer);
    if (channel.receives.empty()) return channel.sends.push(note);
    copy(note, channel.receives.pop(), rank_, note.message.peer);
    met_.push_back(note.message.peer);
  }

  void post_receive(Note& note) {
    Channel& channel = channel_of(note.message.peer, rank_);
    if (channel.sends.empty()) return channel.receives.push(note);
    copy(channel.sends.pop(), note, note.message.peer, rank_);
    met_.push_back(note.message.peer);
  }

  Channel& channel_of(Rank from, Rank to) { return group_.channels[{from, to}][std::size_t(order_)]; }

  static constexpr std::size_t kFew = 32;  // messages for which memory is reserved at the start
  Group& group_;
  Rank rank_;
  int order_;
  std::vector<Note> notes_;
  std::vector<Rank> met_;  // peers whose halves were there already
  std::int64_t moved_ = 0;
};

class LocalTransport : public Transport {
 public:
  LocalTransport(std::shared_ptr<Group> group, Rank rank) : group_(std::move(group)), rank_(rank) {
    for (int lane = 0; lane < kLanes; ++lane)
      for (int slot = 0; slot < slots_of(Lane(lane)); ++slot)
        pending_[std::size_t(lane)].push_back(
            std::make_unique<LocalPending>(*group_, rank, order_of(Lane(lane), slot)));
  }
  ~LocalTransport() override { leave(); }

  void open() override {}
  bool tell_arrivals(const std::function<void()>& told) override {
    Bell& own = group_->bells[std::size_t(rank_)];
    std::lock_guard guard(own.lock);
    own.told = told;
    return true;
  }
  void close(bool) override { leave(); }
  void abandon() override {
    for (auto& lane : pending_)
      for (auto& pending : lane) pending->withdraw();
  }
  Rank rank() const override { return rank_; }
  int size() const override { return int(group_->hosts.size()); }
  const std::string& host(Rank rank) const override { return group_->hosts[std::size_t(rank)]; }
  const char* name() const override { return "local"; }

  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    LocalPending& pending = *pending_[std::size_t(lane)][std::size_t(slot)];
    pending.start(sends, receives);
    return pending;
  }

 private:
  void leave() {
    abandon();
    {
      std::lock_guard guard(group_->lock);
      group_->left[std::size_t(rank_)] = true;
    }
    for (Bell& each : group_->bells) each.ring();
  }

  std::shared_ptr<Group> group_;
  Rank rank_;
  std::array<std::vector<std::unique_ptr<LocalPending>>, kLanes> pending_;  // by lane and slot
};

}  // namespace

std::vector<std::unique_ptr<Transport>> make_local_group(int ranks, std::vector<std::string> hosts) {
  ATOLL_CHECK(ranks >= 1, "ranks {}", ranks);
  if (hosts.empty()) hosts.assign(std::size_t(ranks), "localhost");
  ATOLL_CHECK(hosts.size() == std::size_t(ranks), "{} hosts for {} ranks", hosts.size(), ranks);
  auto group = std::make_shared<Group>();
  group->hosts = std::move(hosts);
  group->left.assign(std::size_t(ranks), false);
  group->bells.resize(std::size_t(ranks));
  std::vector<std::unique_ptr<Transport>> transports;
  for (Rank r = 0; r < ranks; ++r) transports.push_back(std::make_unique<LocalTransport>(group, r));
  return transports;
}

}  // namespace atl
