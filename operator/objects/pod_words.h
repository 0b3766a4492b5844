// What a pod tells of why it doesn't run yet, or why it has ended, and what its annotations say of when.
#pragma once

#include <optional>
#include <string>

#include "operator/api/condition.h"
#include "operator/api/pod.h"

namespace atl::ctl {

/// Why a pod has ended: OOMKilled | Rejected (by the node's kubelet, before it ran) | Signal | Exit |
/// DaemonEnded | Deleted (it was told to end).
std::string reason_of_end(const PodView& pod);

/// Why the engine's container, or the pod, failed: the last line of its log or, where it wrote nothing,
/// kubelet's reason.
std::string why_it_ended(const PodView& pod, const std::string& log);

/// "cora-1-0: ImagePullBackOff: no such image"
std::string why_not_started(const PodView& pod);

/// `message`, or the condition's earlier words where both tell of the same image that can't be pulled: a
/// kubelet alternates between ErrImagePull and ImagePullBackOff, and each change of words is a write.
std::string in_kept_words(const Condition* before, const std::string& message);

/// What the prepare pod has found, where it has ended well and all of it fits into its termination message;
/// else "": then its log has it (read_prepared()).
std::string told_findings(const PodView& prepare);

/// When the pod's gate was removed.
std::optional<Moment> released_at(const PodView& pod);

/// When an operator made the prepare pod or the MPIJob, by that operator's clock.
std::optional<Moment> made_at(const Meta& meta);

}  // namespace atl::ctl
