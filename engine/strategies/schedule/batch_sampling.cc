// What all strategies of batches have in common of how they make them.
#include "job/strategies/feature_rate.h"
#include "sampler/pooled_rows.h"
#include "strategies/schedule/job_sampling.h"
#include "strategies/schedule/rows.h"

namespace atl {

BatchSamplingOptions batch_sampling(const ScheduleInput& in) {
  const BatchGraph& graph = in.holding.batches();
  BatchSamplingOptions batches = job_sampling(in.job, graph.owners.first_row(graph.owners.ranks()));
  batches.threads = in.side.count;
  batches.weighs = in.job.model.norm == Norm::kBatch && in.comm.size() > 1;
  batches.feature_rate = feature_rate(in.job, graph.features.cols);
  batches.negatives = in.job.links.negatives;
  batches.cpus = in.side.cpus;
  return batches;
}

std::vector<Real> filled_columns(const ScheduleInput& in) {
  if (feature_rate(in.job, in.holding.batches().features.cols) == 1 ||
      in.job.strategy.options.text("fill") == "zero")
    return {};
  return mean_features(in.holding.batches(), in.comm.rank(), in.job.training.setting == Setting::kInductive);
}

}  // namespace atl
