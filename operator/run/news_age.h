// How long news of a job waits until it is decided what to do about it.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>

namespace atl::ctl {

/// The calling thread's time on a processor, in seconds.
inline double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// The seconds for which the calling thread was ready to run while other threads had the processors. 0 if the
/// kernel doesn't tell (CONFIG_SCHED_INFO).
inline double run_queue_seconds() {
  double ran = 0, waited = 0;
  std::ifstream("/proc/thread-self/schedstat") >> ran >> waited;
  return 1e-9 * waited;
}

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The time from a job's news to the decision that it leads to. The clock is paused while earlier writes are
/// under way, and from a question to the API server until its answer. One thread at a time.
class NewsAge {
 public:
  using Time = std::chrono::steady_clock;

  /// `queued` is when the news came. `freed` is when earlier writes ended, if that was later. `waited` is
  /// run_queue_seconds() from before the thread took the job.
  NewsAge(Time::time_point queued, Time::time_point freed, double waited)
      : queued_(queued), since_(std::max(queued, freed)), waited_at_first_(waited) {}

  Time::time_point queued() const { return queued_; }
  /// Adds earlier news that waits for the same decision.
  void join(Time::time_point earlier) { queued_ = std::min(queued_, earlier); }
  /// Stops the clock, because the API server is asked, or will be, perhaps by another thread.
  void pause() {
    seconds_ = seconds();
    waited_ += run_queue_seconds() - waited_at_first_;
  }
  /// Starts the clock again in the calling thread, which has the answer.
  void resume() {
    since_ = Time::now();
    waited_at_first_ = run_queue_seconds();
  }

  template <class Ask>
  auto while_asking(const Ask& ask) {
    pause();
    auto answer = ask();
    resume();
    return answer;
  }

  double seconds() const { return seconds_ + seconds_since(since_); }
  /// seconds() without the time in which the thread waited for a processor. That wait is counted from when
  /// the thread began to look for a job.
  double seconds_in_work() const {
    return std::max(seconds() - waited_ - (run_queue_seconds() - waited_at_first_), 0.0);
  }

 private:
  Time::time_point queued_, since_;
  double seconds_ = 0;  // counted until the last pause
  double waited_ = 0;   // seconds without a processor, until the last pause
  double waited_at_first_;
};

}  // namespace atl::ctl
