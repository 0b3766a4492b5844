#include "launch/launch.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <cstring>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "launch/child.h"
#include "launch/mpirun_command.h"
#include "launch/mpirun_messages.h"
#include "launch/output_relay.h"
#include "launch/scratch.h"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLostStatus = 1;  // where mpirun's own would read as a signal

/// Requests to stop: from the terminal (Ctrl-C, Ctrl-\\, its end), from whoever started us.
constexpr int kStops[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Requests to stop and SIGCHLD as bytes to read while this exists. A hang-up that is ignored, as under nohup, is none.
class Signals {
 public:
  Signals() {
    sigemptyset(&watched_);
    sigaddset(&watched_, SIGCHLD);
    for (int signal : kStops)
      if (signal != SIGHUP || !is_ignored(SIGHUP)) sigaddset(&watched_, signal);
    pthread_sigmask(SIG_BLOCK, &watched_, &before_);
    file_ = signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Signals() {
    close(file_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int file() const { return file_; }
  /// The requests to stop that have arrived since.
  std::vector<int> stops() const {
    std::vector<int> signals;
    for (signalfd_siginfo info; read(file_, &info, sizeof info) == sizeof info;)
      if (info.ssi_signo != SIGCHLD) signals.push_back(int(info.ssi_signo));
    return signals;
  }

 private:
  sigset_t watched_, before_;
  int file_ = -1;
};

class Watch {
 public:
  explicit Watch(const LaunchPlan& plan) : plan_(plan), messages_(plan.message) {
    adopt_orphans();
    const bool here = plan.ranks == 1 && plan.hosts.addresses.empty();
    child_ = start_child(
        here ? plan.program : mpirun_command(plan.ranks, plan.hosts, plan.program, scratch_.path()),
        output_.childs_end());
    output_.close_childs_end();
  }
  ~Watch() { close(child_.error_pipe); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  LaunchEnd run() {
    while (!ended_) {
      wait_for_news();
      for (const int signal : signals_.stops()) on_stop(signal);
      ended_ = waitpid(child_.pid, &state_, WNOHANG) == child_.pid;
      if (!ended_ && deadline_ && Clock::now() >= *deadline_) kill_now();
    }
    // The ranks die with mpirun; whoever does not is a child of ours by now.
    end_orphans(plan_.end_patience);
    read_messages();
    messages_.finish();
    pass_output_on();
    LaunchEnd end = verdict();
    end.hung = has_hung();
    end.lost = end.hung ? LostRank{messages_.failed()->rank, messages_.failed()->host, 0, kLostStatus}
                        : messages_.lost();
    end.lost_host = messages_.lost_host();
    return end;
  }

 private:
  /// Returns at once when there is something, after a tenth of a second otherwise.
  void wait_for_news() {
    const auto [from_ranks, to_reader] = output_.files();
    pollfd files[] = {{signals_.file(), POLLIN, 0},
                      {pipe_open_ ? child_.error_pipe : -1, POLLIN, 0},
                      from_ranks,
                      to_reader};
    poll(files, std::size(files), 100);
    if (files[1].revents != 0) read_some();
    output_.pass_on();
    if (output_.unread() && stops_ == 0) on_stop(SIGPIPE);
    const bool is_lost = messages_.lost() || !messages_.lost_host().empty() || messages_.failed();
    if (is_lost && !deadline_) deadline_ = Clock::now() + plan_.end_patience;
  }

  void read_some() {
    char buffer[4096];
    const ssize_t size = read(child_.error_pipe, buffer, sizeof buffer);
    if (size > 0) messages_.add(buffer, std::size_t(size));
    if (size <= 0) pipe_open_ = false;
  }

  /// Everything that is in the pipe; a stranger who still holds its other end can't keep us.
  void read_messages() {
    for (pollfd file{child_.error_pipe, POLLIN, 0}; pipe_open_ && poll(&file, 1, 0) > 0;) read_some();
  }

  /// What is left of it, to a reader who may take his time; a request to stop ends that.
  void pass_output_on() {
    while (output_.pass_on() || output_.holds_any()) {
      const auto [from_ranks, to_reader] = output_.files();
      pollfd files[] = {{signals_.file(), POLLIN, 0}, from_ranks, to_reader};
      poll(files, std::size(files), 100);
      if (!signals_.stops().empty()) return;
    }
  }

  /// A terminal that is closed may say so twice, by its shell and by the kernel: that is no second request.
  void on_stop(int signal) {
    if (signal == SIGHUP && stops_ > 0) return;
    if (stops_++ > 0) return kill_now();
    deadline_ = Clock::now() + plan_.stop_patience;
    kill(child_.pid, plan_.stop_signal);
  }

  void kill_now() {
    kill(child_.pid, SIGKILL);
    killed_by_us_ = true;
  }

  std::string stop_reason() const {
    if (stops_ > 1) return "killed at the second request; the last checkpoint is kept";
    return output_.unread() ? "nobody reads the output any more" : "";
  }

  LaunchEnd verdict() const {
    if (stops_ > 0) return {130, stop_reason(), {}, {}};
    if (const auto& host = messages_.lost_host(); !host.empty())
      return {kLostStatus, "mpirun lost its connection to " + host, {}, {}};
    if (const auto& lost = messages_.lost()) return verdict_on(*lost);
    if (has_hung()) return {kLostStatus, "", {}, {}};
    if (WIFEXITED(state_)) return {WEXITSTATUS(state_), messages_.trouble(), {}, {}};
    return verdict_on_child(WTERMSIG(state_));
  }

  /// mpirun has told of nothing, though a rank has failed, and had to be killed.
  bool has_hung() const {
    return killed_by_us_ && stops_ == 0 && messages_.failed() && !messages_.lost() &&
           messages_.lost_host().empty();
  }

  static LaunchEnd verdict_on(const LostRank& lost) {
    if (lost.signal == 0) return {lost.exit_code, "", {}, {}};
    return {128 + lost.signal,
            fmt::format("rank {} on {} was ended by {}", lost.rank, lost.host, signal_text(lost.signal)),
            {},
            {}};
  }

  LaunchEnd verdict_on_child(int signal) const {
    if (killed_by_us_) return {128 + signal, "the ranks did not end when asked and were killed", {}, {}};
    const char* who = plan_.ranks > 1 ? "mpirun" : "rank 0";
    char host[256] = "this machine";
    gethostname(host, sizeof host - 1);
    return {128 + signal, fmt::format("{} on {} was ended by {}", who, host, signal_text(signal)), {}, {}};
  }

  static std::string signal_text(int signal) {
    const char* cause = signal == SIGKILL ? "; out of memory?" : "";
    return fmt::format("signal {} ({}{})", signal, strsignal(signal), cause);
  }

  const LaunchPlan& plan_;
  Scratch scratch_;
  Signals signals_;
  OutputRelay output_;
  MpirunMessages messages_;
  Child child_;
  std::optional<Clock::time_point> deadline_;
  int stops_ = 0, state_ = 0;
  bool ended_ = false, killed_by_us_ = false, pipe_open_ = true;
};

}  // namespace

LaunchEnd launch(const LaunchPlan& plan) {
  return Watch(plan).run();
}

}  // namespace atl
