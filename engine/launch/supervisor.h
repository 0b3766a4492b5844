// PID 1 of a pod with ranks. It starts the daemon by which mpirun reaches the pod (sshd), adopts and reaps what is left
// behind, hands a request to stop on to the ranks so that they write a checkpoint, and notices what nobody else tells: a
// rank that the kernel kills because the container has used up its memory. A pod whose rank died so would run on as if
// nothing had happened.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

struct SupervisePlan {
  std::vector<std::string> daemon;       // an absolute path and its arguments
  std::chrono::seconds stop_patience{};  // for ranks that write a checkpoint
};

/// How it ended, as the operator reads it.
struct SuperviseEnd {
  int status =
      0;  // what the container exits with; never 0: kubelet calls a pod that it evicts Succeeded then
  std::string reason;        // "Stopped", "OOMKilled", "DaemonEnded"
  std::optional<Rank> rank;  // that the kernel killed
  std::string message;       // one line
};

/// Blocks until a request to stop (base/stop.h), until a rank of this container is killed for memory, or until the daemon ends; then
/// ends everything. Not thread-safe: once a process, from its main thread.
SuperviseEnd supervise(const SupervisePlan& plan);

}  // namespace atl
