// Why a job waits before it is looked at, or before a decision about it is carried out.
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

// Jobs whose writes the API server asks to wait (429 with Retry-After). Such a job isn't looked at until the
// time is over, whatever the news of it: it would be refused again, and the server is busy.

/// Thread-safe.
class ServerDelays {
 public:
  /// The clock must outlive it.
  explicit ServerDelays(kube::Clock& clock) : clock_(clock) {}

  /// `asked`: the server's time, of which kLongest counts at most; 0: it asks for none.
  void begin(const std::string& job, kube::Milliseconds asked) {
    if (asked <= kube::Milliseconds(0)) return;
    std::lock_guard lock(mutex_);
    until_[job] = clock_.now() + std::min(asked, kLongest);
  }
  /// How much of the job's time is left; 0: it may be looked at.
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

// A guard against endless repetition. Deciding the same again and again means that carrying it out doesn't
// change what the decision rests on: the server stores a status differently, or somebody removes an object at
// once. After the third time in a row the job waits, longer each time.

/// Thread-safe.
class Repeats {
 public:
  /// The clock must outlive it.
  explicit Repeats(kube::Clock& clock) : clock_(clock) {}

  /// How long to wait before carrying this out: 0 unless it was carried out three times in a row.
  kube::Milliseconds wait(const std::string& job, const Decision& decision) const;
  /// Whether the job's last decision must wait, if it is the next one as well.
  bool holds_back(const std::string& job) const;
  /// The decision was carried out in full.
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
