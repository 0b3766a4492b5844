// The pods of a job's gang by what they are good for: the worker of each server that serves or will, those
// that never will again, the launchers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/controller/observed.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

struct GangView {
  std::vector<std::vector<Rank>> servers;         // the ranks of each pod
  std::vector<const PodView*> workers;            // by server; null where one is missing
  std::vector<const PodView*> replaced;           // workers that aren't any server's, or will be gone soon
  const PodView* launcher = nullptr;              // of the present attempt, in whatever state
  std::vector<const PodView*> earlier_launchers;  // of attempts before it
  const PodView* prepare = nullptr;
  bool is_launched = false;  // the present attempt's ConfigMap exists: its launcher may have been released

  bool is_complete() const;  // a worker for each server
};

/// `attempt`: the present one.
GangView view_gang(const Observed& seen, const Settings& settings, int attempt);

/// A pod's files (its disk, /dev/shm, /tmp) outgrew a limit of its own, and kubelet ended it.
inline constexpr const char* kOverLimit = "OverLimit";

/// CUDA's words, as a rank passed them on, show that a node's GPU is at fault, or that its driver doesn't
/// suit the engine.
inline constexpr const char *kGpuFault = "GpuFault", *kGpuDriver = "GpuDriver";
inline bool is_of_gpu(const std::string& reason) {
  return reason == kGpuFault || reason == kGpuDriver;
}

/// Why a pod does not and will not run any more: "" | NodeLost | Evicted | OverLimit | Preempted | Rejected
/// (by the node's kubelet, before it ran) | OOMKilled | Signal | Exit | DaemonEnded | Deleted (it was told to
/// end).
std::string loss_of(const PodView& pod, const Observed& seen, const Settings& settings);

/// It is to go, but still has time to write a checkpoint.
bool is_leaving(const PodView& pod, const Observed& seen, const Settings& settings);

/// How long a node may be missing, as Kubernetes' own collector of pods sees it: one that was deleted by
/// mistake is made again by its kubelet, and one that is new may not have been told to us yet.
inline constexpr Seconds kTimeToComeBack{40};

/// A pod that has not started for so long is named: each change of words is a write.
inline constexpr Seconds kTimeToStart{20};

/// It has been missing for that long, its kubelet has been silent for longer than is tolerated, or the job's
/// launcher or ranks have lost it too.
bool is_node_lost(const std::string& node, const Observed& seen, const Settings& settings);

/// The pod was made by this job, not by one of the same name before it or by somebody else.
bool is_own(const Meta& meta, const Observed& seen);

/// "cora-1-0: ImagePullBackOff: no such image"
std::string why_not_started(const PodView& pod);

/// `message`, or what the condition said before where both tell of one image that can't be pulled: a kubelet
/// says ErrImagePull and ImagePullBackOff in turn, and each change of words is a write.
std::string in_kept_words(const Condition* before, const std::string& message);

/// When its gate was taken away.
std::optional<Moment> released_at(const PodView& pod);

/// When an operator made the prepare pod or the MPIJob, by that one's clock.
std::optional<Moment> made_at(const Meta& meta);

}  // namespace atl::ctl
