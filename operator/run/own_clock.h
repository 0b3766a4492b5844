// A clock that runs while at least one worker works itself, and stands while all of them wait: for jobs, for the API server's
// answers, for places. By it, a job that waits on the queue behind others' answers waits for nothing of ours.
#pragma once

#include <chrono>
#include <mutex>

namespace atl::ctl {

/// All of it may be called from any thread.
class OwnClock {
 public:
  /// A worker begins to work itself; each begin() has its end().
  void begin() {
    std::lock_guard lock(mutex_);
    if (working_++ == 0) since_ = Time::now();
  }
  void end() {
    std::lock_guard lock(mutex_);
    if (--working_ == 0) passed_ += Time::now() - since_;
  }
  double seconds() const {
    std::lock_guard lock(mutex_);
    const auto now = working_ > 0 ? Time::now() - since_ : Time::duration(0);
    return std::chrono::duration<double>(passed_ + now).count();
  }

 private:
  using Time = std::chrono::steady_clock;

  mutable std::mutex mutex_;
  int working_ = 0;
  Time::time_point since_;
  Time::duration passed_{0};
};

}  // namespace atl::ctl
