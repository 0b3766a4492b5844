// PID 1 of a pod with ranks. It starts the daemon by which mpirun reaches the pod (sshd), reaps orphans, and
// hands a request to stop on to the ranks, so that they write a checkpoint. It also notices what no other
// process reports: that the kernel has killed a rank because the container has used up its memory. Otherwise
// the pod would run on as if nothing had happened.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

struct SupervisePlan {
  std::vector<std::string> daemon;       // an absolute path and its arguments
  std::chrono::seconds stop_patience{};  // for ranks to end, which write a checkpoint
};

/// How a pod's supervision ended, for the operator.
struct SuperviseEnd {
  // The container's exit status. It is never 0, because kubelet would call a pod that it evicts Succeeded.
  int status = 0;
  std::string reason;        // "Stopped", "OOMKilled", "DaemonEnded"
  std::optional<Rank> rank;  // the rank that the kernel killed
  std::string message;       // one line
};

/// Blocks until a request to stop (base/stop.h), a kill of a rank in this container for memory, or the end of
/// the daemon. Then ends all processes. Not thread-safe: call once per process, from its main thread.
SuperviseEnd supervise(const SupervisePlan& plan);

// Finds which rank the kernel has killed because the container's memory was used up. The kernel doesn't say:
// it only counts the kill.

class MemoryKills {
 public:
  using Clock = std::chrono::steady_clock;
  using Ranks = std::map<pid_t, Rank>;

  /// `ranks` returns the ranks that run (launch/supervisor.cc). `count` returns the kernel's kills in this
  /// container, if that is known (base/memory.h). Earlier kills are ignored.
  MemoryKills(std::function<Ranks()> ranks, std::function<std::optional<long>()> count);

  /// The rank that has gone since the count went up. Call this repeatedly. If no rank has gone half a minute
  /// later, another process was killed (a data loader, a shell), and the run may well go on.
  std::optional<Rank> killed_rank(Clock::time_point now);

 private:
  const std::function<Ranks()> read_ranks_;
  const std::function<std::optional<long>()> read_count_;
  long count_;
  Ranks ranks_;
  std::optional<Clock::time_point> looked_for_until_;  // until when the killed process may be found
};

// A name for the user that a pod runs as. The cluster chooses the user's number, and neither ssh nor sshd
// works for a number without a name.

/// Enters "atoll" with our user number into the file that the C library reads beside /etc/passwd
/// (libnss-extrausers), unless our number has a name already. Throws Error if the file can't be written.
void make_user_known();

// Finds out whether ranks of this pod can use the node's InfiniBand or RoCE. If NCCL may open no such device,
// it uses TCP without a word, and the job is several times slower than its cluster allows.

/// One line for the pod's log; "" if the node has no such device. `devices` lists the node's devices, which
/// every pod sees (/sys/class/infiniband); `opened` lists those that the pod was given (/dev/infiniband).
std::string infiniband_text(const std::filesystem::path& devices, const std::filesystem::path& opened);

}  // namespace atl
