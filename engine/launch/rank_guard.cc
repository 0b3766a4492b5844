#include "launch/rank_guard.h"

#include <sys/prctl.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <algorithm>
#include <utility>

#include "base/stop.h"

namespace atl {
namespace {

constexpr std::chrono::milliseconds kSayAgain{500};

// A signal handler can reach nothing but a global.
std::atomic<bool> stop{false}, trains{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_stop(int) {
  if (!trains.load()) _exit(kStoppedStatus);
  stop.store(true);
}

void watch(pid_t parent) {
  while (getppid() == parent) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(getpid(), SIGKILL);
}

}  // namespace

void end_with_parent() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::thread(watch, parent).detach();
}

const std::atomic<bool>& stop_requested() {
  return stop;
}

void listen_for_stop() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGINT, SIG_IGN);
}

void let_steps_end() {
  trains.store(true);
}

EndUnlessDone::EndUnlessDone(std::chrono::seconds seconds, std::string last_words, int status,
                             std::string meanwhile)
    : thread_([this, end = Clock::now() + seconds, words = std::move(last_words), status,
               again = std::move(meanwhile)] {
        while (!again.empty() && Clock::now() < end) {
          dprintf(STDERR_FILENO, "%s\n", again.c_str());
          if (is_done_by(std::min(end, Clock::now() + kSayAgain))) return;
        }
        if (is_done_by(end)) return;
        std::fprintf(stderr, "%s\n", words.c_str());
        std::fflush(nullptr);
        std::_Exit(status);
      }) {}

bool EndUnlessDone::is_done_by(Clock::time_point when) {
  std::unique_lock lock(lock_);
  return news_.wait_until(lock, when, [this] { return done_; });
}

EndUnlessDone::~EndUnlessDone() {
  {
    std::lock_guard guard(lock_);
    done_ = true;
  }
  news_.notify_one();
  thread_.join();
}

}  // namespace atl
