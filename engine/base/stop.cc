#include "base/stop.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace atl {
namespace {

/// State of the whole process, because signals are the process's. Never destroyed, because the waiting thread
/// lives until the process ends.
struct Stops {
  std::mutex lock;
  std::condition_variable news;
  int taken = 0;                                     // StopsTaken that live
  std::vector<const std::function<void()>*> at_end;  // in the order in which they were made
};

Stops& stops() {
  static Stops& one = *new Stops;
  return one;
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Keeps the lock to the end, so that no AtStop's constructor or destructor gets past it.
[[noreturn]] void end_stopped() {
  for (auto clean = stops().at_end.rbegin(); clean != stops().at_end.rend(); ++clean) (**clean)();
  constexpr char kWords[] = "atoll: stopped\n";
  [[maybe_unused]] const ssize_t said = write(STDERR_FILENO, kWords, sizeof kWords - 1);
  _exit(kStoppedStatus);
}

void wait_for_stop(int file) {
  for (;;) {
    pollfd news{file, POLLIN, 0};
    poll(&news, 1, -1);
    std::unique_lock lock(stops().lock);
    stops().news.wait(lock, [] { return stops().taken == 0; });
    signalfd_siginfo info;
    if (read(file, &info, sizeof info) == sizeof info) end_stopped();
  }
}

void count_taken(int more) {
  {
    const std::lock_guard lock(stops().lock);
    stops().taken += more;
  }
  stops().news.notify_all();
}

}  // namespace

sigset_t stop_signals() {
  sigset_t all;
  sigemptyset(&all);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM}) sigaddset(&all, signal);
  if (!is_ignored(SIGHUP)) sigaddset(&all, SIGHUP);
  return all;
}

void end_at_stops() {
  const sigset_t watched = stop_signals();
  pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  std::thread(wait_for_stop, signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK)).detach();
}

StopsTaken::StopsTaken() {
  count_taken(1);
}

StopsTaken::~StopsTaken() {
  count_taken(-1);
}

AtStop::AtStop(std::function<void()> clean) : clean_(std::move(clean)) {
  const std::lock_guard lock(stops().lock);
  stops().at_end.push_back(&clean_);
}

AtStop::~AtStop() {
  const std::lock_guard lock(stops().lock);
  std::erase(stops().at_end, &clean_);
}

}  // namespace atl
