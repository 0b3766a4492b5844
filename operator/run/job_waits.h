// Two reasons why a job waits: before it is looked at, and before a decision about it is carried out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "operator/controller/decide.h"
#include "operator/kube/clock.h"

namespace atl::ctl {

// Delays that the API server asks for (429 with Retry-After). Such a job isn't looked at until the delay is
// over, even if there is news of it. Its writes would be refused again, and the server is busy.

/// Thread-safe.
class ServerDelays {
 public:
  /// The clock must outlive it.
  explicit ServerDelays(kube::Clock& clock) : clock_(clock) {}

  /// `asked` is the delay that the server asks for, of which at most kLongest counts; 0: it asks for none.
  void begin(const std::string& job, kube::Milliseconds asked) {
    if (asked <= kube::Milliseconds(0)) return;
    std::lock_guard lock(mutex_);
    until_[job] = clock_.now() + std::min(asked, kLongest);
  }
  /// How much of the job's delay is left; 0: it may be looked at.
  kube::Milliseconds left(const std::string& job) {
    std::lock_guard lock(mutex_);
    const auto found = until_.find(job);
    if (found == until_.end()) return kube::Milliseconds(0);
    const auto left = std::chrono::ceil<kube::Milliseconds>(found->second - clock_.now());
    if (left > kube::Milliseconds(0)) return left;
    until_.erase(found);
    return kube::Milliseconds(0);
  }
  void forget(const std::string& job) {
    std::lock_guard lock(mutex_);
    until_.erase(job);
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return until_.size();
  }

  static constexpr kube::Milliseconds kLongest{30'000};

 private:
  kube::Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, kube::Clock::Time> until_;  // by job
};

// A guard against endless repetition. If the same is decided again and again, carrying it out doesn't change
// what the decision rests on. The server may store a status differently, or somebody may remove an object at
// once. After the third time in a row the job waits, longer each time.

/// Thread-safe.
class Repeats {
 public:
  /// The clock must outlive it.
  explicit Repeats(kube::Clock& clock) : clock_(clock) {}

  /// How long to wait before this decision is carried out. 0 unless it was carried out three times in a row.
  kube::Milliseconds wait(const std::string& job, const Decision& decision) const;
  /// Whether the job's last decision would have to wait if it were decided again now.
  bool holds_back(const std::string& job) const;
  /// Records that the decision was carried out in full.
  void done(const std::string& job, const Decision& decision);
  void forget(const std::string& job);
  std::size_t size() const;

 private:
  struct Last {
    std::size_t digest = 0;
    int times = 0;
    kube::Clock::Time at{};
  };

  static kube::Clock::Time end_of_wait(const Last& last);

  kube::Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Last> last_;  // by job
};

}  // namespace atl::ctl
