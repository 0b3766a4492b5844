// How long news of a job waits until it is known what to do about it.
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

/// For how many seconds the calling thread has been ready to run while others had the processors. 0 where the
/// kernel doesn't tell (CONFIG_SCHED_INFO).
inline double run_queue_seconds() {
  double ran = 0, waited = 0;
  std::ifstream("/proc/thread-self/schedstat") >> ran >> waited;
  return 1e-9 * waited;
}

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// From a job's news to the decision that it leads to. It stands still while the API server has the job:
/// while earlier writes are under way, and from a question to its answer. For one thread at a time.
class NewsAge {
 public:
  using Time = std::chrono::steady_clock;

  /// `queued`: when the news came. `freed`: when earlier writes ended, if that was later. `waited`: what
  /// run_queue_seconds() was before the thread had the job.
  NewsAge(Time::time_point queued, Time::time_point freed, double waited)
      : queued_(queued), since_(std::max(queued, freed)), waited_at_first_(waited) {}

  Time::time_point queued() const { return queued_; }
  /// Adds news that came earlier and waits for the same decision.
  void join(Time::time_point earlier) { queued_ = std::min(queued_, earlier); }
  /// The API server is asked, or somebody is to ask it, maybe in another thread.
  void pause() {
    seconds_ = seconds();
    waited_ += run_queue_seconds() - waited_at_first_;
  }
  /// The answer is there, for the calling thread.
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
  /// The same without the time in which the thread waited for a processor. Its waits before it took the job
  /// count only as far as nothing else kept it from sleeping.
  double seconds_in_work() const {
    return std::max(seconds() - waited_ - (run_queue_seconds() - waited_at_first_), 0.0);
  }

 private:
  Time::time_point queued_, since_;
  double seconds_ = 0;  // until the last pause
  double waited_ = 0;   // likewise
  double waited_at_first_;
};

}  // namespace atl::ctl
