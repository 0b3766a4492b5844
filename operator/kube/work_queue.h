// Keys that need work. A key is worked on by at most one worker at a time. A key that is added many times
// before it is taken is worked on once. A key that is added while it is worked on comes again afterwards.
// Events of the cluster are added at once; only failures wait. Urgent keys are taken first, but others get
// their turns.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>

#include "operator/kube/clock.h"

namespace atl::kube {

/// Thread-safe.
class WorkQueue {
 public:
  /// Says whether a key that becomes ready is urgent. It must not call the queue.
  using IsUrgent = std::function<bool(const std::string& key)>;
  explicit WorkQueue(
      Clock& clock = steady_clock(), IsUrgent is_urgent = [](const std::string&) { return false; },
      Milliseconds first_wait = Milliseconds(5), Milliseconds longest_wait = Milliseconds(300'000))
      : clock_(clock),
        is_urgent_(std::move(is_urgent)),
        first_wait_(first_wait),
        longest_wait_(longest_wait) {}
  /// After this many urgent keys in a row, another key is taken.
  static constexpr int kMostInARow = 8;

  void add(const std::string& key);
  /// Adds the key after `wait`, but after a day at the latest. If several waits were asked for, the earliest
  /// counts. The limit is needed because a manifest may state a wait of centuries, and a clock that counts
  /// nanoseconds can't represent its end.
  void add_after(const std::string& key, Milliseconds wait);
  static constexpr Milliseconds kLongestRest{86'400'000};
  /// Adds the key after first_wait × 2^n, at most longest_wait, where n counts failures since forget().
  void add_failed(const std::string& key);
  /// Whether the last work on the key failed and its next try is still to come.
  bool is_put_off(const std::string& key) const;
  /// The work on the key has succeeded, so its next failure counts as the first.
  void forget(const std::string& key);
  /// What the key stands for is gone. Its pending waits are dropped, however long they are.
  void drop(const std::string& key);

  /// Waits for a key and takes it; nothing if `stop` came. The taker must call done() with the key.
  std::optional<std::string> take(const std::stop_token& stop);
  /// Takes a key without waiting; nothing if no key is ready.
  std::optional<std::string> take_now();
  void done(const std::string& key);

  /// The number of keys that could be taken now.
  std::size_t depth() const;
  /// The number of entries of all keys: those that are ready, wait, or have failed.
  std::size_t size() const;

 private:
  void add_locked(const std::string& key);
  void take_off(std::unordered_map<std::string, Clock::Time>::iterator due);
  void make_ready(const std::string& key);
  bool is_any_ready() const { return !urgent_.empty() || !others_.empty(); }
  void add_due();
  std::optional<std::string> take_locked();

  Clock& clock_;
  const IsUrgent is_urgent_;
  const Milliseconds first_wait_, longest_wait_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> urgent_, others_;           // ready keys, each list in the order of taking
  int in_a_row_ = 0;                                  // urgent keys taken in a row while others were ready
  std::set<std::string> dirty_, taken_;               // dirty: needs work; ready if it isn't taken too
  std::multimap<Clock::Time, std::string> later_;     // by the time when a key is due
  std::unordered_map<std::string, Clock::Time> due_;  // by key: its time in `later_`
  std::unordered_map<std::string, int> failures_;     // by key: failures since forget()
};

// What we have asked of the API for an owner (a job), and what our caches don't show yet. While anything is
// outstanding, the caches lag, and a decision made from them would ask for it again.

/// Thread-safe.
class Expectations {
 public:
  explicit Expectations(Clock& clock = steady_clock(), Milliseconds patience = Milliseconds(300'000))
      : clock_(clock), patience_(patience) {}

  /// Call it before the request, because the event may come before the answer. `name` is that of the object
  /// to make, or the UID of the object to delete; the event has the same.
  void expect(const std::string& owner, const std::string& name);
  /// The event has come, or the request has failed.
  void seen(const std::string& owner, const std::string& name);
  /// Whether nothing is outstanding. What has been outstanding for too long doesn't count, because its event
  /// must have been missed.
  bool are_met(const std::string& owner);
  /// The owner is gone.
  void forget(const std::string& owner);
  /// The number of owners for which something is outstanding.
  std::size_t size() const;

 private:
  struct Outstanding {
    std::set<std::string> names;
    Clock::Time since;
  };

  Clock& clock_;
  const Milliseconds patience_;
  mutable std::mutex mutex_;
  std::map<std::string, Outstanding> owners_;  // each owner here has outstanding names
};

}  // namespace atl::kube
