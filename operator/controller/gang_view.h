// The pods of a job's gang by their use: each server's worker, launchers, and pods that no longer serve.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/controller/observed.h"
#include "operator/objects/pod_words.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

struct GangView {
  std::vector<std::vector<Rank>> servers;  // the ranks of each pod
  std::vector<const PodView*> workers;     // by server; null where one is missing
  std::vector<const PodView*> replaced;    // workers that no longer belong to a server, or will be gone soon
  const PodView* launcher = nullptr;       // the present attempt's, in any state
  std::vector<const PodView*> earlier_launchers;  // of previous attempts
  const PodView* prepare = nullptr;
  bool is_launched = false;  // the present attempt's ConfigMap exists, so its launcher may have been released

  bool is_complete() const;  // there is a worker for each server
  bool is_whole() const { return is_complete() && launcher; }
  std::vector<const PodView*> pods() const;  // workers and the launcher, as far as there are any
  /// The worker of that rank; null where it is missing.
  const PodView* worker_of(Rank rank) const;
};

/// `attempt` is the number of the present attempt.
GangView view_gang(const Observed& seen, const Settings& settings, int attempt);

/// The node where the pod runs, or is to run; "" where it has none yet.
inline const std::string& where(const PodView& pod) {
  return pod.is_bound() ? pod.node : pod.pinned;
}

/// Moves workers that are out of place to `replaced` (queue_nodes.cc). A worker is out of place if its node
/// isn't one that the job's queue assigned, or if Kueue doesn't know it as a pod of the job: an operator of
/// an earlier release made it, or the assignment has changed. An attempt that runs is left to end.
void set_misplaced_aside(const Observed& seen, GangView& view);

/// The pod's files (its disk, /dev/shm, /tmp) outgrew one of its limits, and kubelet evicted it.
inline constexpr const char* kOverLimit = "OverLimit";

/// Why a pod has stopped for good: NodeLost | Evicted | OverLimit | Preempted | Rejected (by the node's
/// kubelet, before it ran) | OOMKilled | Signal | Exit | DaemonEnded | Deleted (it was told to end). "" for a
/// pod that runs, or may yet run.
std::string loss_of(const PodView& pod, const Observed& seen, const Settings& settings);

/// Whether the pod is to go, but still has time to write a checkpoint.
bool is_leaving(const PodView& pod, const Observed& seen, const Settings& settings);

/// How long a node may be missing before it counts as lost, as in Kubernetes' own garbage collector of pods.
/// A kubelet whose Node object was deleted by mistake creates it again. News of it may be late, too.
inline constexpr Seconds kTimeToComeBack{40};

/// A pod that hasn't started within this time is named in a condition. It isn't named sooner, because each
/// change of a condition's words is a write.
inline constexpr Seconds kTimeToStart{20};

/// Whether this job made the pod, rather than an earlier job of the same name or somebody else.
bool is_own(const Meta& meta, const Observed& seen);

}  // namespace atl::ctl
