// A job's Workload, by which it queues for quota (api/workload.h), and what Kueue is told of it afterwards.
#pragma once

#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/workload.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// Two sets of pods: the launcher, and the workers, each counted like the largest, as they are planned. The prepare pod
/// comes before the workers and takes no more than one of them. `servers`: the ranks of each.
std::string workload(const GnnJob& job, const Settings& settings,
                     const std::vector<std::vector<Rank>>& servers, const QueuePriority& priority);

/// A JSON patch of its status that enters these conditions; `releases`: and gives the reserved quota back. It fails
/// where the Workload has changed since it was read.
std::string conditions_patch(const Meta& meta, const Workload& workload,
                             const std::vector<Condition>& conditions, bool releases = false);

}  // namespace atl::ctl
