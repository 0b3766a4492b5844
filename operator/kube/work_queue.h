// Keys that need work, each taken by one worker at most. A key that is added many times before it is taken is
// worked on once; a key that is added while it is worked on comes again afterwards. Events of the cluster are
// added at once; only failures wait. Urgent keys are taken first, but not for ever.
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

/// Any thread may call any of it.
class WorkQueue {
 public:
  /// Asked when a key becomes ready; must not call the queue.
  using IsUrgent = std::function<bool(const std::string& key)>;
  explicit WorkQueue(
      Clock& clock = steady_clock(), IsUrgent is_urgent = [](const std::string&) { return false; },
      Milliseconds first_wait = Milliseconds(5), Milliseconds longest_wait = Milliseconds(300'000))
      : clock_(clock),
        is_urgent_(std::move(is_urgent)),
        first_wait_(first_wait),
        longest_wait_(longest_wait) {}
  /// Others are taken after so many urgent keys in a row.
  static constexpr int kMostInARow = 8;

  void add(const std::string& key);
  /// Adds the key after `wait`, or after a day if that is sooner; the earliest of several waits counts. A
  /// clock that counts nanoseconds doesn't know a moment that is centuries away, as a manifest may state one.
  void add_after(const std::string& key, Milliseconds wait);
  static constexpr Milliseconds kLongestRest{86'400'000};
  /// Adds the key after first_wait × 2^n, at most longest_wait, where n counts failures since forget().
  void add_failed(const std::string& key);
  /// Whether the key's last work failed, and the next try is still to come.
  bool is_put_off(const std::string& key) const;
  /// The key's work has succeeded: its next failure is the first.
  void forget(const std::string& key);
  /// What the key stands for is gone: it waits for nothing any more, however far off that is.
  void drop(const std::string& key);

  /// Waits for a key and takes it; none: `stop` came. The taker calls done() with the key.
  std::optional<std::string> take(const std::stop_token& stop);
  /// Takes a key without waiting; none: nothing to do now.
  std::optional<std::string> take_now();
  void done(const std::string& key);

  /// Keys that could be taken now.
  std::size_t depth() const;
  /// Entries of all keys: those that are ready, that wait, and that have failed.
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
  std::deque<std::string> urgent_, others_;        // ready ones, each in the order in which they are taken
  int in_a_row_ = 0;                               // urgent ones that were taken while others were ready
  std::set<std::string> dirty_, taken_;            // dirty: need work; dirty keys that aren't taken are ready
  std::multimap<Clock::Time, std::string> later_;  // by the time when they are due
  std::unordered_map<std::string, Clock::Time> due_;  // each key's place in `later_`
  std::unordered_map<std::string, int> failures_;     // since forget()
};

// What we have asked of the API for an owner (a job) and not yet seen in our caches. While anything is
// outstanding the caches are behind, and acting on them would do it twice.

/// Any thread may call any of it.
class Expectations {
 public:
  explicit Expectations(Clock& clock = steady_clock(), Milliseconds patience = Milliseconds(300'000))
      : clock_(clock), patience_(patience) {}

  /// Called before the request, because its event may come before its answer. `name`: of the object to make,
  /// or the UID of the object to delete; the event names the same.
  void expect(const std::string& owner, const std::string& name);
  /// The event has come, or the request has failed.
  void seen(const std::string& owner, const std::string& name);
  /// Whether nothing is outstanding, or it has been for so long that its event must have been missed.
  bool are_met(const std::string& owner);
  /// The owner is gone.
  void forget(const std::string& owner);
  /// Owners of which something is outstanding.
  std::size_t size() const;

 private:
  struct Outstanding {
    std::set<std::string> names;
    Clock::Time since;
  };

  Clock& clock_;
  const Milliseconds patience_;
  mutable std::mutex mutex_;
  std::map<std::string, Outstanding> owners_;  // every one has outstanding names
};

}  // namespace atl::kube
