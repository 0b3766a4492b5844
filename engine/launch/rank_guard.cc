#include "launch/rank_guard.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/stop.h"

namespace atl {
namespace {

constexpr std::chrono::milliseconds kPiece{500};

// A signal handler can reach only globals.
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

/// Pieces are counted, and not the clock's time, of which much is over when a paused process goes on.
EndUnlessDone::EndUnlessDone(std::chrono::seconds seconds, std::string last_words, int status,
                             std::string meanwhile)
    : thread_([this, left = std::chrono::milliseconds(seconds), words = std::move(last_words), status,
               again = std::move(meanwhile)]() mutable {
        for (; left.count() > 0; left -= kPiece) {
          if (!again.empty()) dprintf(STDERR_FILENO, "%s\n", again.c_str());
          if (is_done_within(std::min(left, kPiece))) return;
        }
        std::fprintf(stderr, "%s\n", words.c_str());
        std::fflush(nullptr);
        std::_Exit(status);
      }) {}

bool EndUnlessDone::is_done_within(std::chrono::milliseconds time) {
  std::unique_lock lock(lock_);
  return news_.wait_for(lock, time, [this] { return done_; });
}

EndUnlessDone::~EndUnlessDone() {
  {
    std::lock_guard guard(lock_);
    done_ = true;
  }
  news_.notify_one();
  thread_.join();
}

namespace {
constexpr const char* kKilled = "ended by signal";
constexpr std::array kNews = {"has started", "leaves", "has ended"};  // by RankWord
}  // namespace

std::string rank_news(int rank, const std::string& host, RankWord word) {
  return fmt::format("atoll-rank: {} on {} {}", rank, host, kNews[std::size_t(word)]);
}

std::optional<RankNews> read_rank_news(const std::string& line) {
  RankNews news;
  char host[256] = {};
  int at = 0;
  if (std::sscanf(line.c_str(), "atoll-rank: %d on %255s %n", &news.rank, host, &at) != 2) return {};
  news.host = host;
  for (std::size_t word = 0; word < kNews.size(); ++word)
    if (line.compare(std::size_t(at), std::string::npos, kNews[word]) == 0) {
      news.word = RankWord(word);
      return news;
    }
  return {};
}

std::string rank_failure(int rank, const std::string& host, const std::string& why) {
  return fmt::format("atoll: rank {} on {}: {}", rank, host, why);
}

std::string rank_killed(int rank, const std::string& host, int signal) {
  return rank_failure(rank, host, fmt::format("{} {}", kKilled, signal));
}

std::optional<FailedRank> read_rank_failure(const std::string& line) {
  FailedRank failed;
  char host[256] = {};
  int why = 0;
  if (std::sscanf(line.c_str(), "atoll: rank %d on %255[^: ]: %n", &failed.rank, host, &why) != 2) return {};
  failed.host = host;
  if (const auto text = line.substr(std::size_t(why)); text.starts_with(kKilled))
    std::sscanf(text.c_str() + std::strlen(kKilled), " %d", &failed.signal);
  return failed;
}

namespace {

/// Every wait here ends with the rank at the latest, or with our parent.
[[noreturn]] void outlive(pid_t child, const sigset_t& watched, Rank rank, const std::string& host) {
  prctl(PR_SET_NAME, "atoll-witness");  // not "atoll", the name by which ranks are found
  end_with_parent();
  int state = 0;
  bool asked_to_end = false, asked_to_stop = false;
  while (waitpid(child, &state, WNOHANG) != child) {
    int signal = 0;
    if (sigwait(&watched, &signal) != 0 || signal == SIGCHLD || signal == SIGINT) continue;
    asked_to_end = asked_to_end || signal == SIGTERM;
    asked_to_stop = asked_to_stop || signal == SIGUSR1;
    kill(child, signal);
  }
  if (WIFEXITED(state)) {
    if (WEXITSTATUS(state) == 0)
      dprintf(STDERR_FILENO, "%s\n", rank_news(rank, host, RankWord::kEnded).c_str());
    _exit(WEXITSTATUS(state));
  }
  const int signal = WTERMSIG(state);
  if (asked_to_stop && signal == SIGUSR1) _exit(kStoppedStatus);  // the rank didn't listen to it yet
  if (!asked_to_end) dprintf(STDERR_FILENO, "%s\n", rank_killed(rank, host, signal).c_str());
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // where core files are wanted, the rank has left one
  sigset_t all;
  sigfillset(&all);
  std::signal(signal, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  raise(signal);
  _exit(128 + signal);
}

}  // namespace

pid_t leave_witness(Rank rank, const std::string& host) {
  sigset_t watched, before;
  sigemptyset(&watched);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGUSR1}) sigaddset(&watched, signal);
  sigprocmask(SIG_BLOCK, &watched, &before);
  const pid_t starter = getppid(), witness = getpid(), child = fork();
  if (child < 0) fail("rank {} on {}: no process for it: {}", rank, host, std::strerror(errno));
  if (child > 0) outlive(child, watched, rank, host);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != witness) _exit(128 + SIGKILL);  // the witness died before prctl()
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return starter;
}

}  // namespace atl
