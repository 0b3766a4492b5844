#include "launch/rank_guard.h"

#include <sys/prctl.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <utility>

namespace atl {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_stop(int) {
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

EndUnlessDone::EndUnlessDone(std::chrono::seconds seconds, std::string last_words, int status)
    : thread_([this, seconds, words = std::move(last_words), status] {
        std::unique_lock lock(lock_);
        if (news_.wait_for(lock, seconds, [this] { return done_; })) return;
        std::fprintf(stderr, "%s\n", words.c_str());
        std::fflush(nullptr);
        std::_Exit(status);
      }) {}

EndUnlessDone::~EndUnlessDone() {
  {
    std::lock_guard guard(lock_);
    done_ = true;
  }
  news_.notify_one();
  thread_.join();
}

}  // namespace atl
