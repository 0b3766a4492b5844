#include "strategies/schedule/job_sampling.h"

#include "job/models.h"
#include "job/samplers.h"
#include "job/strategies/batch_options.h"
#include "sampler/kinds/kinds.h"

namespace atl {
namespace {

SetOptions set_options(const Job& job, Index vertices) {
  const Options& options = job.strategy.options;
  SetOptions sets{.layer_sizes = {},
                  .draws = set_draws(job, vertices),
                  .walk_length = int(options.integer("walkLength")),
                  .merged = int(options.integer("merged")),
                  .coverage = int(options.integer("coverage"))};
  for (const std::int64_t size : layer_sizes(job)) sets.layer_sizes.push_back(size);
  return sets;
}

}  // namespace

BatchSamplingOptions job_sampling(const Job& job, Index vertices) {
  const Options& options = job.strategy.options;
  BatchSamplingOptions batches{.sampling = {.fanout = batch_fanout(job),
                                            .replace = options.flag("replace"),
                                            .seed = job.training.seed},
                               .sets = find_sets(sampler_of(job).name),
                               .batch_size = options.integer("batchSize"),
                               .mapped = options.text("structure") == "mapped"};
  if (batches.sets != nullptr) batches.set_options = set_options(job, vertices);
  return batches;
}

std::optional<HistoryOptions> job_history(const Job& job) {
  if (!reads_history(job)) return {};
  const Options& options = job.strategy.options;
  return HistoryOptions{.rows = options.integer("historyRows"),
                        .layers = gathering_layers(job.model) - 1,
                        .delay = options.integer("delay"),
                        .max_age = options.integer("maxAge")};
}

}  // namespace atl
