#include "launch/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/types.h"
#include "launch/child.h"

namespace atl {
namespace {

// Finds the ranks below this process. They are children of mpirun's daemon, not of ours.

namespace fs = std::filesystem;
constexpr std::string_view kVariable = "OMPI_COMM_WORLD_RANK=";

std::optional<Rank> rank_of(const fs::path& process) {
  std::ifstream name_file(process / "comm"), environment(process / "environ", std::ios::binary);
  std::string name;
  if (!(name_file >> name) || name != "atoll") return {};
  for (std::string variable; std::getline(environment, variable, '\0');) {
    if (!variable.starts_with(kVariable)) continue;
    Rank rank = 0;
    const char* begin = variable.data() + kVariable.size();
    if (std::from_chars(begin, variable.data() + variable.size(), rank).ec == std::errc()) return rank;
  }
  return {};
}

pid_t parent_of(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');  // a process's name may contain spaces
  pid_t parent = 0;
  if (name_end != std::string::npos) std::sscanf(text.c_str() + name_end, ") %*c %d", &parent);
  return parent;
}

bool descends_from_us(pid_t pid) {
  for (int steps = 0; pid > 1 && steps < 100; ++steps) {  // bounded, since a pid may be reused meanwhile
    pid = parent_of("/proc/" + std::to_string(pid));
    if (pid == getpid()) return true;
  }
  return false;
}

/// The rank by pid of every `atoll` process among our descendants to which mpirun has given a number.
std::map<pid_t, Rank> rank_processes() {
  std::map<pid_t, Rank> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    const auto rank = rank_of(entry.path());
    if (rank && descends_from_us(pid)) found[pid] = *rank;
  }
  return found;
}

using Clock = std::chrono::steady_clock;
constexpr int kLookMilliseconds = 200;
constexpr std::size_t kErrorsKept = 1024;
constexpr std::chrono::milliseconds kEndPatience{
    2000};  // from SIGTERM to SIGKILL, for processes other than ranks

class Supervisor {
 public:
  explicit Supervisor(const SupervisePlan& plan)
      : plan_(plan), kills_(rank_processes, [] { return oom_kills(); }) {
    adopt_orphans();
    daemon_ = start_child(plan.daemon);
  }
  ~Supervisor() { close(daemon_.error_pipe); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  SuperviseEnd run() {
    for (;;) {
      wait_for_news();
      if (!signals_.stops().empty()) return stop();
      if (const auto end = killed_for_memory()) return finish(*end);
      if (reap()) return finish({1, "DaemonEnded", {}, daemons_end()});
    }
  }

 private:
  void wait_for_news() {
    pollfd files[] = {{signals_.file(), POLLIN, 0}, {pipe_open_ ? daemon_.error_pipe : -1, POLLIN, 0}};
    poll(files, 2, kLookMilliseconds);
    if (files[1].revents != 0) pass_on_errors();
  }

  void pass_on_errors() {
    char buffer[4096];
    const ssize_t size = read(daemon_.error_pipe, buffer, sizeof buffer);
    pipe_open_ = size > 0;
    if (!pipe_open_) return;
    std::fwrite(buffer, 1, std::size_t(size), stderr);
    last_errors_.append(buffer, std::size_t(size));
    if (last_errors_.size() > kErrorsKept) last_errors_.erase(0, last_errors_.size() - kErrorsKept);
  }

  /// Says how the daemon ended, with its last line, because readers of the pod's status have no log at hand.
  std::string daemons_end() {
    for (pollfd pipe{daemon_.error_pipe, POLLIN, 0}; pipe_open_ && poll(&pipe, 1, 0) > 0;) pass_on_errors();
    const auto end = last_errors_.find_last_not_of(" \r\n");
    if (end == std::string::npos) return plan_.daemon[0] + " ended, and wrote nothing";
    const auto begin = last_errors_.find_last_of('\n', end) + 1;  // 0 for a single line
    return plan_.daemon[0] + " ended: " + last_errors_.substr(begin, end + 1 - begin);
  }

  std::optional<SuperviseEnd> killed_for_memory() {
    const std::optional<Rank> rank = kills_.killed_rank(Clock::now());
    if (!rank) return {};
    return SuperviseEnd{128 + SIGKILL, "OOMKilled", rank,
                        fmt::format("rank {} was killed because the container is out of memory; raise "
                                    "resources.memory, or use more ranks",
                                    *rank)};
  }

  /// Reaps the children that have ended. True if the daemon is among them.
  bool reap() const {
    for (;;) {
      const pid_t pid = waitpid(-1, nullptr, WNOHANG);
      if (pid <= 0) return false;
      if (pid == daemon_.pid) return true;
    }
  }

  SuperviseEnd stop() {
    const auto deadline = Clock::now() + plan_.stop_patience;
    // Repeats until the ranks are gone, since a rank may have begun meanwhile, or not have listened yet.
    for (auto ranks = rank_processes(); !ranks.empty() && Clock::now() < deadline; ranks = rank_processes()) {
      for (const auto& [pid, rank] : ranks) kill(pid, SIGUSR1);
      poll(nullptr, 0, kLookMilliseconds);
      reap();
    }
    return finish({kStoppedStatus, "Stopped", {}, "asked to stop"});
  }

  SuperviseEnd finish(SuperviseEnd end) const {
    kill(daemon_.pid, SIGTERM);
    end_orphans(kEndPatience);
    return end;
  }

  const SupervisePlan& plan_;
  ChildSignals signals_;  // must exist before the daemon starts
  MemoryKills kills_;
  Child daemon_;
  bool pipe_open_ = true;
  std::string last_errors_;  // the end of the daemon's standard error, at most kErrorsKept bytes
};

}  // namespace

SuperviseEnd supervise(const SupervisePlan& plan) {
  return Supervisor(plan).run();
}

namespace {
constexpr std::chrono::seconds kPatienceWithKilled{30};  // from the count of a kill to the end of its process
}  // namespace

MemoryKills::MemoryKills(std::function<Ranks()> ranks, std::function<std::optional<long>()> count)
    : read_ranks_(std::move(ranks)), read_count_(std::move(count)), count_(read_count_().value_or(0)) {}

/// Reads the ranks before the count. A kill is counted before its process ends, so the kill of a rank that is
/// missing here is included in the count below. In the other order, a kill in between would be counted only
/// after its rank has been forgotten.
std::optional<Rank> MemoryKills::killed_rank(Clock::time_point now) {
  const Ranks before = std::exchange(ranks_, read_ranks_());
  const long count = read_count_().value_or(count_);
  if (std::exchange(count_, count) != count) looked_for_until_ = now + kPatienceWithKilled;
  if (looked_for_until_ && now > *looked_for_until_) looked_for_until_.reset();
  if (!looked_for_until_) return {};
  for (const auto& [pid, rank] : before) {
    if (ranks_.contains(pid)) continue;
    looked_for_until_.reset();
    return rank;
  }
  return {};
}

void make_user_known() {
  constexpr const char* kFile = "/var/lib/extrausers/passwd";
  if (getpwuid(geteuid()) != nullptr) return;
  std::ofstream entry(kFile, std::ios::app);
  entry << fmt::format("atoll:x:{}:{}:atoll:/run/atoll:/bin/bash\n", geteuid(), getegid());
  entry.close();
  if (!entry)
    fail(
        "user {} has no name, which ssh needs, and {} can't be written to add one; mount an emptyDir at "
        "its folder",
        geteuid(), kFile);
}

namespace {

namespace fs = std::filesystem;

/// The names in the folder; empty if there is no such folder, or it may not be read.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code no;
  for (const auto& entry : fs::directory_iterator(folder, no)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::string infiniband_text(const fs::path& devices, const fs::path& opened) {
  const auto names = names_in(devices);
  if (names.empty()) return {};
  const bool may_use = std::ranges::any_of(
      names_in(opened), [](const std::string& name) { return name.starts_with("uverbs"); });
  if (may_use) return fmt::format("InfiniBand: this pod may use it; the node has {}", joined(names, ", "));
  return fmt::format(
      "InfiniBand: the node has {}, but this pod has no {}/uverbs*, so NCCL uses TCP (ask for the resource of "
      "the node's RDMA device plugin in template)",
      joined(names, ", "), opened.string());
}

}  // namespace atl
