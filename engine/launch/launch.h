// Runs the ranks of a job, on this machine or on hosts that a remote shell reaches, and watches over them:
// mpirun is our child, its death is noticed, a lost rank is named, a stop is passed on, and when we return no
// process of the job is left here.
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
  std::vector<std::string> program;  // of one rank: an absolute path and its arguments
  std::function<void(const std::string&)> message;  // a line of a rank's standard error
  int stop_signal = SIGUSR1;                // what asks the program, or mpirun and so the ranks, to stop
  std::chrono::seconds stop_patience{600};  // from the first request to stop to a kill
  std::chrono::seconds end_patience{8};     // from a lost rank or mpirun to a kill of the rest
  /// From mpirun's start, or a rank's first word (launch/rank_guard.h), to the next one's; 0: the program
  /// says none.
  std::chrono::seconds start_patience{0};
  /// From the first rank that says that it leaves to a kill of those that haven't ended by then; 0: the
  /// program says no such words.
  std::chrono::seconds leave_patience{0};
};

/// Of start_patience, where it is --timeout that says how long to wait: ranks take a while to start on a busy
/// machine.
constexpr std::chrono::seconds start_patience_of(std::chrono::seconds timeout) {
  return std::max(timeout, std::chrono::seconds(60));
}
/// Of leave_patience: whoever leaves still gives its memory back. Ranks themselves wait longer for one
/// another, so that it is `launch` that names the one that is missing.
constexpr std::chrono::seconds leave_patience_of(std::chrono::seconds timeout) {
  return std::max(timeout, std::chrono::seconds(5));
}
constexpr std::chrono::seconds ranks_leave_patience_of(std::chrono::seconds timeout) {
  return leave_patience_of(timeout) + std::chrono::seconds(15);
}

/// How it ended.
struct LaunchEnd {
  /// What `atoll run` exits with: 0; 130 when stopped; a failed rank's own status; 128 + n after signal n.
  int status = 0;
  // one line for the user where something was lost; empty where the rank itself has said it
  std::string reason;
  std::optional<LostRank> lost;  // the first that ended badly, where mpirun has told …
  std::string lost_host;         // … or the address of the host that it lost its connection to before
  bool hung = false;  // mpirun didn't end, though `lost` has said so itself, or because it doesn't end:
                      // mpirun may not reach every host any more
};

/// Blocks until every process of the job has ended. Takes requests to stop (base/stop.h): the first asks the
/// ranks to stop (SIGUSR1: finish the step and write a checkpoint, or end where none is under way), the
/// second kills them, unless it is SIGHUP. Of ranks that say when they have started, the first request can't
/// be lost: it is repeated until they have ended, and where none has started, mpirun is ended with it. An
/// output that nobody reads is a first request. Not thread-safe: one launch a process at a time, from its
/// main thread, no other child processes meanwhile.
LaunchEnd launch(const LaunchPlan& plan);

}  // namespace atl
