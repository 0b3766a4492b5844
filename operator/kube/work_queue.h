// Keys that need work, each in the hands of one worker at most. A key added many times before anybody takes
// it is worked on once; one added while it is worked on comes again afterwards. What happens in the cluster
// is added at once; only failures wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "operator/kube/clock.h"

namespace atl::kube {

/// All of it may be called from any thread.
class WorkQueue {
 public:
  explicit WorkQueue(Clock& clock = steady_clock(), Milliseconds first_wait = Milliseconds(5),
                     Milliseconds longest_wait = Milliseconds(300'000))
      : clock_(clock), first_wait_(first_wait), longest_wait_(longest_wait) {}

  void add(const std::string& key);
  /// Adds it after a while; the earliest of several counts.
  void add_after(const std::string& key, Milliseconds wait);
  /// Adds it after first_wait × 2^n, n the failures since forget(), at most longest_wait.
  void add_failed(const std::string& key);
  /// The key's work has succeeded: its next failure is the first.
  void forget(const std::string& key);

  /// Waits for a key and takes it; none: `stop` came. The taker calls done() with it.
  std::optional<std::string> take(const std::stop_token& stop);
  /// The same without waiting; none: there is nothing to do now.
  std::optional<std::string> take_now();
  void done(const std::string& key);

  /// Keys that could be taken now.
  std::size_t depth() const;

 private:
  void add_locked(const std::string& key);
  void add_due();
  std::optional<std::string> take_locked();

  Clock& clock_;
  const Milliseconds first_wait_, longest_wait_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> ready_;                     // in the order in which they are taken
  std::set<std::string> dirty_, taken_;               // dirty: need work; those of them not taken are ready
  std::multimap<Clock::Time, std::string> later_;     // by when
  std::unordered_map<std::string, Clock::Time> due_;  // where in `later_` a key is
  std::unordered_map<std::string, int> failures_;     // since forget()
};

}  // namespace atl::kube
