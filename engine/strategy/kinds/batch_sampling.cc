// What all strategies of batches have in common of how they make them.
#include "strategy/job_sampling.h"
#include "strategy/kinds/kinds.h"

namespace atl {

BatchSamplingOptions batch_sampling(const ScheduleInput& in) {
  BatchSamplingOptions batches = job_sampling(in.job);
  batches.threads = in.side.count;
  batches.weighs = in.job.model.norm == Norm::kBatch && in.comm.size() > 1;
  batches.cpus = in.side.cpus;
  return batches;
}

}  // namespace atl
