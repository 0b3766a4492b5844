// What all strategies of batches have in common of how they draw.
#include "job/strategies/batch_options.h"
#include "strategy/kinds/kinds.h"

namespace atl {

BatchSamplingOptions batch_sampling(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  return {.sampling = {.fanout = batch_fanout(in.job),
                       .replace = options.flag("replace"),
                       .seed = in.job.training.seed},
          .batch_size = options.integer("batchSize"),
          .threads = in.side.count,
          .mapped = options.text("structure") == "mapped",
          .weighs = in.job.model.norm == Norm::kBatch && in.comm.size() > 1,
          .cpus = in.side.cpus};
}

}  // namespace atl
