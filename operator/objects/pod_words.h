// What a pod tells: why it doesn't run yet, why it has ended, and when it was made and released.
#pragma once

#include <optional>
#include <string>

#include "operator/api/condition.h"
#include "operator/api/pod.h"

namespace atl::ctl {

/// Why a pod has ended: OOMKilled | Rejected (by the node's kubelet, before it ran) | Signal | Exit |
/// DaemonEnded | Deleted (it was told to end).
std::string reason_of_end(const PodView& pod);

/// Why the engine's container, or the pod, failed. This is the last line of its log, or kubelet's reason if
/// it wrote nothing.
std::string why_it_ended(const PodView& pod, const std::string& log);

/// "cora-1-0: ImagePullBackOff: no such image"
std::string why_not_started(const PodView& pod);

/// The words for a condition: `message`, or the condition's earlier words if both tell of the same image that
/// can't be pulled. A kubelet alternates between ErrImagePull and ImagePullBackOff, and each change of words
/// is a write.
std::string in_kept_words(const Condition* before, const std::string& message);

/// The findings of a prepare pod that has ended well, if all of them fit into its termination message.
/// Otherwise "", and its log has them (read_prepared()).
std::string told_findings(const PodView& prepare);

/// When the pod's gate was removed.
std::optional<Moment> released_at(const PodView& pod);

/// When an operator made the prepare pod or the MPIJob, by the clock of that operator.
std::optional<Moment> made_at(const Meta& meta);

}  // namespace atl::ctl
