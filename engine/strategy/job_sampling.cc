#include "strategy/job_sampling.h"

#include "job/samplers.h"
#include "job/strategies/batch_options.h"
#include "sampler/kinds/kinds.h"

namespace atl {
namespace {

SetOptions set_options(const Job& job) {
  const Options& options = job.strategy.options;
  SetOptions sets{.layer_sizes = {},
                  .draws = options.integer("draws"),
                  .walk_length = int(options.integer("walkLength")),
                  .merged = int(options.integer("merged")),
                  .coverage = int(options.integer("coverage"))};
  for (const std::int64_t size : layer_sizes(job)) sets.layer_sizes.push_back(size);
  return sets;
}

}  // namespace

BatchSamplingOptions job_sampling(const Job& job) {
  const Options& options = job.strategy.options;
  BatchSamplingOptions batches{.sampling = {.fanout = batch_fanout(job),
                                            .replace = options.flag("replace"),
                                            .seed = job.training.seed},
                               .sets = find_sets(sampler_of(job).name),
                               .batch_size = options.integer("batchSize"),
                               .mapped = options.text("structure") == "mapped"};
  if (batches.sets != nullptr) batches.set_options = set_options(job);
  return batches;
}

}  // namespace atl
