// A rank's side of being supervised: it ends when whoever started it is gone, and it is asked, not killed, to
// stop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace atl {

/// From now on this process is killed when its parent (mpirun, or `atoll run`) ends, however it ends: by the
/// kernel (PR_SET_PDEATHSIG), and, where that is lost, by a thread that looks at the parent twice a second.
/// Call once, first thing.
void end_with_parent();

/// From now on SIGUSR1, which `atoll run` sends (and mpirun hands on) when the user asks to stop, ends this process at once
/// with kStoppedStatus: nothing is trained that could be lost. SIGINT is left to `atoll run`.
void listen_for_stop();

/// From now on SIGUSR1 sets stop_requested() instead: a step is under way, and a checkpoint follows it.
void let_steps_end();

/// The same flag each call.
const std::atomic<bool>& stop_requested();

/// While it exists: after `seconds` this process says `last_words` on standard error and exits with `status`. For a
/// call into a library that may never return and can't be cancelled. `meanwhile` is said at once, and each half a second.
class EndUnlessDone {
 public:
  EndUnlessDone(std::chrono::seconds seconds, std::string last_words, int status, std::string meanwhile = "");
  ~EndUnlessDone();
  EndUnlessDone(const EndUnlessDone&) = delete;
  EndUnlessDone& operator=(const EndUnlessDone&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  bool is_done_by(Clock::time_point when);

  std::mutex lock_;
  std::condition_variable news_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace atl
