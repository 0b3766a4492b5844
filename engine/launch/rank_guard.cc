#include "launch/rank_guard.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/stop.h"

namespace atl {
namespace {

constexpr std::chrono::milliseconds kSleep{500};

// These are global because a signal handler can reach only globals.
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

/// The thread counts short sleeps instead of reading the clock, because much of the clock's time is over when
/// a paused process goes on.
EndUnlessDone::EndUnlessDone(std::chrono::seconds seconds, std::string last_words, int status,
                             std::string meanwhile)
    : thread_([this, left = std::chrono::milliseconds(seconds), words = std::move(last_words), status,
               again = std::move(meanwhile)]() mutable {
        for (; left.count() > 0; left -= kSleep) {
          if (!again.empty()) dprintf(STDERR_FILENO, "%s\n", again.c_str());
          if (wait_until_done(std::min(left, kSleep))) return;
        }
        std::fprintf(stderr, "%s\n", words.c_str());
        std::fflush(nullptr);
        std::_Exit(status);
      }) {}

bool EndUnlessDone::wait_until_done(std::chrono::milliseconds time) {
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

/// The witness's part: waits for the rank's end and reports it. Every wait here ends with the rank at the
/// latest, or with our parent.
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
  if (asked_to_stop && signal == SIGUSR1) _exit(kStoppedStatus);  // the rank didn't listen to the signal yet
  if (!asked_to_end) dprintf(STDERR_FILENO, "%s\n", rank_killed(rank, host, signal).c_str());
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // no second core file: the rank has left one if wanted
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

// Ends ranks of an earlier attempt that still run in our pod.

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{10}, kPatience{5000};

std::optional<int> number(const std::string& text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

/// A process's command line. It is empty for a process that has ended or is about to, since its memory is
/// freed first.
std::vector<std::string> words_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// The word after `option`, or "".
std::string value_of(const std::vector<std::string>& words, const std::string& option) {
  const auto found = std::ranges::find(words, option);
  return found == words.end() || std::next(found) == words.end() ? "" : *std::next(found);
}

bool is_earlier_rank(pid_t process, const std::string& run, int attempt) {
  const auto words = words_of(process);
  const auto theirs = number(value_of(words, "--attempt"));
  return words.size() > 1 && words[1] == "train" && value_of(words, "--run") == run && theirs &&
         *theirs < attempt;
}

std::string name_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::vector<pid_t> processes() {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone))
    if (const auto pid = number(entry.path().filename())) found.push_back(*pid);
  return found;
}

/// Whether a thread has ended, reaped or not. `thread` is its folder in /proc.
bool has_ended(const fs::path& thread) {
  std::ifstream file(thread / "stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(") ");  // of "PID (NAME) STATE …"
  return name_end == std::string::npos || text[name_end + 2] == 'Z' || text[name_end + 2] == 'X';
}

/// Whether all threads have ended. Only then has the process released all that it held. Ports are released
/// last.
bool is_gone(pid_t process) {
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone))
    if (!has_ended(thread.path())) return false;
  return true;
}

/// Whether this is a process of our program that was killed, perhaps by a rank beside us, and that still
/// holds its resources. A process that begins looks the same for a moment. So such a process is waited for
/// and never killed.
bool is_ending(pid_t process) {
  return words_of(process).empty() && name_of(std::to_string(process)) == name_of("self") &&
         !is_gone(process);
}

}  // namespace

void end_earlier_ranks(const std::string& run, int attempt) {
  std::vector<pid_t> ranks = processes();
  std::erase_if(ranks, [&](pid_t process) { return !is_earlier_rank(process, run, attempt); });
  for (const pid_t rank : ranks) kill(rank, SIGKILL);
  const auto is_over = [&] {
    return std::ranges::all_of(ranks, is_gone) && std::ranges::none_of(processes(), is_ending);
  };
  const auto deadline = Clock::now() + kPatience;
  while (!is_over() && Clock::now() < deadline) std::this_thread::sleep_for(kLook);
}

}  // namespace atl
