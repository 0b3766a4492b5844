// Runs the ranks of a job, on this machine or on hosts that a remote shell reaches, and watches over them.
// mpirun is our child, so its death is noticed. A lost rank is named, a stop is passed on, and when we return
// no process of the job is left here.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/mpirun_command.h"
#include "launch/mpirun_messages.h"

namespace atl {

struct LaunchPlan {
  int ranks = 1;                     // 1, on this machine: the program is started without mpirun
  RemoteHosts hosts;                 // none: this machine
  std::vector<std::string> program;  // what one rank runs: an absolute path and its arguments
  std::function<void(const std::string&)> message;  // receives each line of a rank's standard error
  std::function<void()> stopping = [] {};  // called at the first request to stop, while ranks still end
  int stop_signal = SIGUSR1;  // signal that asks the program, or mpirun and through it the ranks, to stop
  std::chrono::seconds stop_patience{600};  // from the first request to stop to a kill
  std::chrono::seconds end_patience{8};     // from the loss of a rank or of mpirun to a kill of the rest
  /// How long to wait from mpirun's start, or a rank's first word (launch/rank_guard.h), to the next rank's
  /// first word; 0: the program says no such words.
  std::chrono::seconds start_patience{0};
  /// How long to wait from the first rank that says that it leaves to a kill of those that haven't ended; 0:
  /// the program says no such words.
  std::chrono::seconds leave_patience{0};
};

/// The start_patience that follows from --timeout. Ranks take a while to start on a busy machine.
constexpr std::chrono::seconds start_patience_of(std::chrono::seconds timeout) {
  return std::max(timeout, std::chrono::seconds(60));
}
/// The leave_patience that follows from --timeout. A rank that leaves still frees its memory. Ranks
/// themselves wait longer for one another, so that `launch` is the first to name the missing rank.
constexpr std::chrono::seconds leave_patience_of(std::chrono::seconds timeout) {
  return std::max(timeout, std::chrono::seconds(5));
}
constexpr std::chrono::seconds ranks_leave_patience_of(std::chrono::seconds timeout) {
  return leave_patience_of(timeout) + std::chrono::seconds(15);
}

/// How a launch ended.
struct LaunchEnd {
  /// The exit status of `atoll run`: 0; 130 when stopped; a failed rank's own status; 128 + n after signal n.
  int status = 0;
  // one line for the user if something was lost; empty if the rank itself has reported it
  std::string reason;
  std::optional<LostRank> lost;  // the first rank that ended badly, if it is known
  std::string lost_host;         // address of the first host to which mpirun lost its connection
  // true: mpirun reported nothing and was killed, because the rank `lost` had failed or didn't end. mpirun
  // may not reach every host any more.
  bool hung = false;
  /// The errno of the first failure to write the ranks' output to our standard output. 0: all of it was
  /// written, or the output is closed. Such a failure doesn't disturb the ranks.
  int output_failure = 0;
};

/// Blocks until every process of the job has ended. Takes requests to stop (base/stop.h). The first asks the
/// ranks to stop (SIGUSR1: finish the step and write a checkpoint, or end if no step is under way). The
/// second kills the ranks, unless it is SIGHUP. An output that nobody reads counts as a first request. If
/// ranks say when they have started, the first request is repeated until they have ended, so that it can't be
/// lost; if none has started, mpirun is ended. Not thread-safe: one launch per process at a time, from its
/// main thread, without other child processes meanwhile.
LaunchEnd launch(const LaunchPlan& plan);

}  // namespace atl
