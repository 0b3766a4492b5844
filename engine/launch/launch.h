// Runs the ranks of a job, on this machine or on hosts that a remote shell reaches, and watches over them: mpirun is our
// child, its death is noticed, a lost rank is named, a stop is passed on, and when we return no process of the job is left
// here.
#pragma once

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
};

/// How it ended.
struct LaunchEnd {
  /// What `atoll run` exits with: 0; 130 when stopped; a failed rank's own status; 128 + n after signal n.
  int status = 0;
  std::string
      reason;  // one line for the user where something was lost; empty where the rank itself has said it
  std::optional<LostRank> lost;  // the first that ended badly, where mpirun has told …
  std::string lost_host;         // … or the address of the host that it lost its connection to before
  bool hung =
      false;  // `lost` has said so itself, and mpirun didn't end: it may not reach every host any more
};

/// Blocks until every process of the job has ended. Takes SIGINT, SIGQUIT, SIGTERM, and SIGHUP unless it is
/// ignored: the first asks the ranks to stop (SIGUSR1: finish the step, write a checkpoint), the second kills
/// them, unless it is SIGHUP. An output that nobody reads is a first request. Not thread-safe: one launch a process
/// at a time, from its main thread, no other child processes meanwhile.
LaunchEnd launch(const LaunchPlan& plan);

}  // namespace atl
