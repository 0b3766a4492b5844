// When the number of ranks in a pod is chosen for a job whose manifest leaves it open
// (operator/plan/pod_size.h), and what becomes of the job then.
//
// A new job gets its number in the first look at it, before anything is made of it, and keeps it, whatever
// nodes come and go: its data set is prepared for pods of that size, and its queue has counted them. Only a
// job that was never started, and whose nodes have been gone for long, gets another. If no nodes could hold
// the job, because there are none yet, its status says so. Its pods have one rank each then: those fit any
// node that an autoscaler may add. The number is then chosen when there are nodes, as long as nothing runs.
// So it is for a job that is made suspended, or changed while it is. A job that an operator of an earlier
// release has taken says nothing of it in its status, and stays as it is.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"
#include "operator/plan/gang.h"

namespace atl::ctl {

/// Whether the number is to be chosen now, if nothing of the job runs. `is_new`: no operator has taken the
/// job yet.
bool is_pod_size_open(const GnnJob& job, bool is_new);

struct PodSizing {
  PodSize size;             // for the status
  MadeOf made_of;           // likewise
  bool is_another = false;  // pods get more ranks than they have in this look at the job, or fewer
};

/// largest_pods() of the cluster, and for the nodes that the job may use.
using LargestPods = std::function<std::optional<PodSize>(std::vector<Gang>)>;

/// Whether nodes could hold the job's pods of the size that was chosen, if they were empty.
bool could_hold_chosen(const GnnJob& job, const Settings& settings, const LargestPods& largest);

PodSizing pod_sizing(const GnnJob& job, const Settings& settings, const LargestPods& largest);

}  // namespace atl::ctl
