#include "launch/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/stop.h"
#include "launch/child.h"
#include "launch/memory_kills.h"
#include "launch/rank_processes.h"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLookMilliseconds = 200;
constexpr std::size_t kErrorsKept = 1024;
constexpr std::chrono::milliseconds kEndPatience{2000};  // from SIGTERM to SIGKILL, for what isn't a rank

class Supervisor {
 public:
  explicit Supervisor(const SupervisePlan& plan)
      : plan_(plan), kills_(rank_processes, [] { return oom_kills(); }) {
    sigset_t watched = stop_signals();
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    adopt_orphans();
    daemon_ = start_child(plan.daemon);
  }
  ~Supervisor() {
    close(daemon_.error_pipe);
    close(signals_);
  }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  SuperviseEnd run() {
    for (;;) {
      wait_for_news();
      if (asked_to_stop()) return stop();
      if (const auto end = killed_for_memory()) return finish(*end);
      if (reap()) return finish({1, "DaemonEnded", {}, daemons_end()});
    }
  }

 private:
  void wait_for_news() {
    pollfd files[] = {{signals_, POLLIN, 0}, {pipe_open_ ? daemon_.error_pipe : -1, POLLIN, 0}};
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

  /// With the last line that it wrote: who reads the pod's status has no log at hand.
  std::string daemons_end() {
    for (pollfd pipe{daemon_.error_pipe, POLLIN, 0}; pipe_open_ && poll(&pipe, 1, 0) > 0;) pass_on_errors();
    const auto end = last_errors_.find_last_not_of(" \r\n");
    if (end == std::string::npos) return plan_.daemon[0] + " ended, and wrote nothing";
    const auto begin = last_errors_.find_last_of('\n', end) + 1;  // 0 where there is none
    return plan_.daemon[0] + " ended: " + last_errors_.substr(begin, end + 1 - begin);
  }

  bool asked_to_stop() const {
    bool asked = false;
    for (signalfd_siginfo info; read(signals_, &info, sizeof info) == sizeof info;)
      asked = asked || info.ssi_signo != SIGCHLD;
    return asked;
  }

  std::optional<SuperviseEnd> killed_for_memory() {
    const std::optional<Rank> rank = kills_.killed_rank(Clock::now());
    if (!rank) return {};
    return SuperviseEnd{128 + SIGKILL, "OOMKilled", rank,
                        fmt::format("rank {} was killed because the container is out of memory; raise "
                                    "resources.memory, or use more ranks",
                                    *rank)};
  }

  /// Whether the daemon has ended.
  bool reap() const {
    for (;;) {
      const pid_t pid = waitpid(-1, nullptr, WNOHANG);
      if (pid <= 0) return false;
      if (pid == daemon_.pid) return true;
    }
  }

  SuperviseEnd stop() {
    const auto deadline = Clock::now() + plan_.stop_patience;
    // Again until they are gone: one may have begun meanwhile, or not have listened yet.
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
  MemoryKills kills_;
  Child daemon_;
  int signals_ = -1;
  bool pipe_open_ = true;
  std::string last_errors_;  // of the daemon, at most kErrorsKept bytes
};

}  // namespace

SuperviseEnd supervise(const SupervisePlan& plan) {
  return Supervisor(plan).run();
}

}  // namespace atl
