// Jobs of strategy `p3` for tests of plans, with the input of their plans.
#pragma once

#include "plan/job_plan.h"
#include "train/strategy_jobs.h"

namespace atl {

inline const PlanOptions kOptions{1, {1e9, 1e9, 1e9}, 1e9};

inline PreparedGraph prepared_for(const Job& job, const Dataset& dataset) {
  return PreparedGraph::make(dataset, partition_options(job, job.placement.ranks), graph_transforms(job),
                             training_marks(dataset, job));
}

}  // namespace atl
