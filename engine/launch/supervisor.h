// PID 1 of a pod with ranks. It starts the daemon by which mpirun reaches the pod (sshd), adopts and reaps
// what is left behind, hands a request to stop on to the ranks so that they write a checkpoint, and notices
// what nobody else tells: a rank that the kernel kills because the container has used up its memory. A pod
// whose rank died so would run on as if nothing had happened.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <functional>
#include <map>
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
  // what the container exits with; never 0: kubelet calls a pod that it evicts Succeeded then
  int status = 0;
  std::string reason;        // "Stopped", "OOMKilled", "DaemonEnded"
  std::optional<Rank> rank;  // that the kernel killed
  std::string message;       // one line
};

/// Blocks until a request to stop (base/stop.h), until a rank of this container is killed for memory, or
/// until the daemon ends; then ends everything. Not thread-safe: once a process, from its main thread.
SuperviseEnd supervise(const SupervisePlan& plan);

// Which rank the kernel has killed because the container's memory was used up. It tells nobody: it counts,
// and the rank is gone.

class MemoryKills {
 public:
  using Clock = std::chrono::steady_clock;
  using Ranks = std::map<pid_t, Rank>;

  /// `ranks`: those that run (launch/supervisor.cc); `count`: the kernel's kills in this container, if it
  /// tells (base/memory.h). Kills before are nobody's.
  MemoryKills(std::function<Ranks()> ranks, std::function<std::optional<long>()> count);

  /// The rank that is gone since the count went up; to be called again and again. Where none is gone half a
  /// minute later, somebody else was killed (a data loader, a shell), and the run may well go on.
  std::optional<Rank> killed_rank(Clock::time_point now);

 private:
  const std::function<Ranks()> read_ranks_;
  const std::function<std::optional<long>()> read_count_;
  long count_;
  Ranks ranks_;
  std::optional<Clock::time_point> looked_for_until_;  // whoever was killed last
};

// A name for the user that a pod runs as: the cluster chooses its number, and neither ssh nor sshd works for
// a number that nobody knows.

/// Enters "atoll" with our number where the C library looks users up beside /etc/passwd (libnss-extrausers),
/// unless we have a name already. Throws Error where that can't be written.
void make_user_known();

}  // namespace atl
