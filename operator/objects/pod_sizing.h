// When the number of ranks in a pod is chosen for a job whose manifest leaves it open
// (operator/plan/pod_size.h), and when it is chosen again.
//
// The number of a new job is chosen at the first look at it, before anything is made of it. The job keeps it,
// whatever nodes come and go, because its data set is prepared for pods of that size and its queue has
// counted them. Only a job that was never started, and whose nodes have been gone for long, gets another.
//
// If no nodes could hold the job, because there are none yet, its status says so. Its pods then have one rank
// each, which fits any node that an autoscaler may add. The number is chosen once there are nodes, unless
// something of the job runs. The same holds for a job that is created suspended, or changed while suspended.
// A job that an operator of an earlier release has taken has no number in its status, and stays as it is.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"
#include "operator/plan/gang.h"

namespace atl::ctl {

/// Whether the number is to be chosen now, provided that nothing of the job runs. `is_new` says that no
/// operator has taken the job yet.
bool is_pod_size_open(const GnnJob& job, bool is_new);

struct PodSizing {
  PodSize size;             // for the status
  MadeOf made_of;           // for the status
  bool is_another = false;  // the size differs from the one at this look
};

/// Returns largest_pods() of the cluster, on the nodes that the job may use.
using LargestPods = std::function<std::optional<PodSize>(std::vector<Gang>)>;

/// Whether the nodes could hold the job's pods of the chosen size if they were empty.
bool could_hold_chosen(const GnnJob& job, const Settings& settings, const LargestPods& largest);

PodSizing pod_sizing(const GnnJob& job, const Settings& settings, const LargestPods& largest);

}  // namespace atl::ctl
