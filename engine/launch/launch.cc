#include "launch/launch.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/stop.h"
#include "launch/child.h"
#include "launch/mpirun_command.h"
#include "launch/mpirun_messages.h"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLostStatus = 1;  // exit status where mpirun's own status would read as a signal

/// These apply to ranks that say when they have started. kAskAgain: how often they are asked to stop.
/// kEndMpirun: after this time without a started rank, mpirun is killed. SIGTERM wouldn't do: mpirun may hang
/// or crash at SIGTERM while it starts.
constexpr std::chrono::milliseconds kAskAgain{200}, kEndMpirun{1500};
constexpr std::chrono::milliseconds kLeftovers{1000};  // after a stop, for processes that outlive mpirun
constexpr const char* kAndKilled = ", and was killed";

class Watch {
 public:
  explicit Watch(const LaunchPlan& plan)
      : plan_(plan),
        is_alone_(plan.ranks == 1 && plan.hosts.addresses.empty()),
        messages_(plan.message),
        leaving_(plan.leave_patience) {
    adopt_orphans();
    if (!is_alone_) allow_files(plan.ranks, plan.hosts);
    child_ = start_child(
        is_alone_ ? plan.program : mpirun_command(plan.ranks, plan.hosts, plan.program, scratch_.path()),
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
      ask_again();
      end_where_none_starts();
      end_where_some_stay();
      ended_ = has_child_ended();
      if (!ended_ && deadline_ && Clock::now() >= *deadline_) kill_now();
    }
    // The ranks die with mpirun. A process that doesn't is a child of ours by now.
    const bool no_patience = stops_ > 0 || is_silent_ || were_left();
    end_orphans(no_patience ? kLeftovers : std::chrono::milliseconds(plan_.end_patience));
    read_messages();
    messages_.finish();
    pass_output_on();
    LaunchEnd end = verdict();
    const auto hung = hung_rank();
    end.hung = hung.has_value();
    end.lost = hung ? hung : messages_.lost();
    end.lost_host = messages_.lost_host();
    end.output_failure = output_.failure();
    return end;
  }

 private:
  /// Whether the child has ended. Warns if somebody has paused it (kill -STOP, a debugger), since everything
  /// then waits silently.
  bool has_child_ended() {
    if (waitpid(child_.pid, &state_, WNOHANG | WUNTRACED) != child_.pid) return false;
    if (!WIFSTOPPED(state_)) return true;
    plan_.message(fmt::format(
        "atoll: warning: {} (process {}) was paused by signal {}; the run goes on after `kill -CONT {}`",
        who(), child_.pid, WSTOPSIG(state_), child_.pid));
    return false;
  }

  /// Asks the child to stop. A paused child is continued, since it couldn't hand the request on.
  void ask_child_to_stop() const {
    kill(child_.pid, plan_.stop_signal);
    kill(child_.pid, SIGCONT);
  }

  /// Returns at once when there is news, otherwise after a tenth of a second.
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

  /// Reads what is in the pipe, without waiting for another process that still holds the other end.
  void read_messages() {
    for (pollfd file{child_.error_pipe, POLLIN, 0}; pipe_open_ && poll(&file, 1, 0) > 0;) read_some();
  }

  /// Passes on the rest of the output. Its reader may be slow; a request to stop ends the wait.
  void pass_output_on() {
    while (output_.pass_on() || output_.holds_any()) {
      const auto [from_ranks, to_reader] = output_.files();
      pollfd files[] = {{signals_.file(), POLLIN, 0}, from_ranks, to_reader};
      poll(files, std::size(files), 100);
      if (!signals_.stops().empty()) return;
    }
  }

  /// Handles a request to stop. A terminal that is closed may send SIGHUP twice, by its shell and by the
  /// kernel; both count as one request.
  void on_stop(int signal) {
    if (signal == SIGHUP && stops_ > 0) return;
    if (stops_++ > 0) return kill_now();
    asked_ = stopped_ = Clock::now();
    messages_.stop();
    deadline_ = stopped_ + plan_.stop_patience;
    ask_child_to_stop();
    if (signal != SIGPIPE) plan_.stopping();
  }

  /// Asks again for a stop, since mpirun loses a request that comes before it can hand requests on, or before
  /// a rank has started.
  void ask_again() {
    const auto now = Clock::now();
    if (stops_ == 0 || plan_.start_patience.count() == 0 || now < asked_ + kAskAgain) return;
    asked_ = now;
    if (messages_.ranks().empty() && now >= stopped_ + kEndMpirun) return kill_now();
    ask_child_to_stop();
  }

  /// Ends a start that doesn't go on. mpirun may wait for ever for ranks or hosts that it couldn't start. So
  /// it is killed after a while, and sooner if it has reported trouble.
  void end_where_none_starts() {
    if (plan_.start_patience.count() == 0 || is_alone_ || stops_ > 0 || is_silent_) return;
    const int started = int(messages_.ranks().size());
    if (std::exchange(started_, started) != started) last_start_ = Clock::now();
    const auto patience = messages_.trouble().empty() ? plan_.start_patience : plan_.end_patience;
    if (started == plan_.ranks || Clock::now() < last_start_ + patience) return;
    is_silent_ = true;
    kill_now();
  }

  void end_where_some_stay() {
    const Leaving::News news = leaving_.look(messages_.ranks(), Clock::now());
    if (news == Leaving::News::kOver) kill_now();
    if (news != Leaving::News::kWorthTelling) return;
    plan_.message(fmt::format("atoll: warning: {}; atoll waits for {} s at most (--timeout)",
                              leaving_.words(), plan_.leave_patience.count()));
  }

  void kill_now() {
    kill(child_.pid, SIGKILL);
    killed_by_us_ = true;
  }

  std::string stop_reason() const {
    if (stops_ > 1) return "killed at the second request; the last checkpoint is kept";
    if (were_left()) return leaving_.words() + kAndKilled;
    return output_.unread() ? "nobody reads the output any more" : "";
  }

  /// Says which ranks didn't start, and what the user can check.
  std::string silence() const {
    std::string missing;
    for (int rank = 0; rank < plan_.ranks; ++rank)
      if (!messages_.ranks().contains(rank))
        missing += fmt::format("{} {}", missing.empty() ? "" : ",", rank);
    const std::string why = messages_.trouble();
    return fmt::format(
        "mpirun did not start rank{}{}: {}", missing.find(',') == std::string::npos ? "" : "s", missing,
        why.empty()
            ? fmt::format("nothing was heard for {} s; see what mpirun says above, if anything, and {}",
                          plan_.start_patience.count(), what_to_see())
            : why);
  }
  std::string what_to_see() const {
    if (!plan_.hosts.addresses.empty()) return "look at the hosts, or raise --timeout";
    return fmt::format(
        "look at processes (`ulimit -u`), open files (`ulimit -n` is {}) and memory, or raise --timeout",
        open_file_limit());
  }

  LaunchEnd verdict() const {
    if (stops_ > 0) return {kStoppedStatus, stop_reason(), {}, {}};
    if (is_silent_) return {kLostStatus, silence(), {}, {}};
    if (const auto& host = messages_.lost_host(); !host.empty())
      return {kLostStatus, "mpirun lost its connection to " + host, {}, {}};
    if (const auto& lost = messages_.lost()) return verdict_on(*lost);
    if (were_left()) return {kLostStatus, leaving_.words() + kAndKilled, {}, {}};
    if (hung_rank()) return {kLostStatus, "", {}, {}};
    if (WIFEXITED(state_)) return verdict_on_status(WEXITSTATUS(state_));
    return verdict_on_child(WTERMSIG(state_));
  }

  /// Whether mpirun was killed because some ranks, or mpirun itself, didn't end after other ranks had left.
  bool were_left() const { return leaving_.is_over() && WIFSIGNALED(state_); }

  /// The rank that has failed or doesn't end, if mpirun reported nothing and had to be killed.
  std::optional<LostRank> hung_rank() const {
    if (!killed_by_us_ || stops_ > 0 || messages_.lost() || !messages_.lost_host().empty()) return {};
    if (were_left()) return leaving_.first();
    if (!messages_.failed()) return {};
    return LostRank{messages_.failed()->rank, messages_.failed()->host, 0, kLostStatus};
  }

  static LaunchEnd verdict_on(const LostRank& lost) {
    if (lost.signal == 0) return {lost.exit_code, "", {}, {}};
    if (lost.signal == SIGUSR1)  // another process asked it to stop before it listened
      return {kStoppedStatus, "", {}, {}};
    return {128 + lost.signal,
            fmt::format("rank {} on {} was ended by {}", lost.rank, lost.host, signal_text(lost.signal)),
            {},
            {}};
  }

  /// The verdict where only mpirun's status is known. On a busy machine mpirun doesn't always say which rank
  /// a signal has ended; its status is then 128 + the signal.
  LaunchEnd verdict_on_status(int status) const {
    const int signal = status - 128;
    if (is_alone_ || signal <= 0 || signal >= NSIG || messages_.failed() || !messages_.trouble().empty())
      return {status, messages_.trouble(), {}, {}};
    if (signal == SIGUSR1) return {kStoppedStatus, "", {}, {}};
    return {status,
            fmt::format("a rank was ended by {}; mpirun does not say which", signal_text(signal)),
            {},
            {}};
  }

  LaunchEnd verdict_on_child(int signal) const {
    if (is_alone_ && signal == SIGUSR1) return {kStoppedStatus, "", {}, {}};
    if (killed_by_us_) return {128 + signal, "the ranks did not end when asked and were killed", {}, {}};
    char host[256] = "this machine";
    gethostname(host, sizeof host - 1);
    return {128 + signal, fmt::format("{} on {} was ended by {}", who(), host, signal_text(signal)), {}, {}};
  }

  const char* who() const { return is_alone_ ? "rank 0" : "mpirun"; }

  static std::string signal_text(int signal) {
    const char* cause = signal == SIGKILL ? "; out of memory?" : "";
    return fmt::format("signal {} ({}{})", signal, strsignal(signal), cause);
  }

  const LaunchPlan& plan_;
  const bool is_alone_;   // a rank without mpirun
  ChildSignals signals_;  // comes first: from here on no request to stop is lost
  Scratch scratch_;
  OutputRelay output_;
  MpirunMessages messages_;
  Leaving leaving_;
  Child child_;
  std::optional<Clock::time_point> deadline_;
  Clock::time_point stopped_, asked_;  // times of the first request and of the last one that was handed on
  Clock::time_point last_start_ = Clock::now();  // when mpirun, or the latest rank, started
  int stops_ = 0, state_ = 0, started_ = 0;
  bool ended_ = false, killed_by_us_ = false, pipe_open_ = true, is_silent_ = false;
};

}  // namespace

LaunchEnd launch(const LaunchPlan& plan) {
  return Watch(plan).run();
}

}  // namespace atl
