// Strategy `minibatch`: a step is a batch of vertices and of neighbours drawn for them.
#include "job/samplers.h"
#include "job/strategies/batch_options.h"
#include "strategies/schedule/job_sampling.h"
#include "strategies/schedule/rows.h"
#include "strategies/schedule/mini_batch.h"

namespace atl {
namespace {

constexpr std::int64_t kPresampledSteps = 32;

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  const std::string& policy = options.text("cache.policy");
  const FeatureStoreOptions features{.bfloat16 = in.job.wire() == Precision::kBFloat16,
                                     .cache_bytes = options.integer("cache.bytes"),
                                     .policy = policy == "degree"       ? CachePolicy::kDegree
                                               : policy == "presampled" ? CachePolicy::kPresampled
                                                                        : CachePolicy::kLru,
                                     .fill = filled_columns(in)};
  BatchSamplingOptions batches = batch_sampling(in);
  batches.features = features, batches.presampled = kPresampledSteps;
  const MiniBatchOptions chosen{.batches = batches,
                                .ahead = int(options.integer("prefetch")),
                                .passes = passes_of(in),
                                .slab_bytes = slab_bytes(in.job.resources.memory),
                                .epochs = in.job.training.epochs,
                                .history = job_history(in.job),
                                .wire = in.job.wire(),
                                .gpu_features = options.number("gpuFeatures")};
  return std::make_unique<MiniBatch>(in.ctx, in.comm, in.model, in.parameters, in.holding.batches(), chosen);
}

}  // namespace

Strategy minibatch_row() {
  return {.kind = "minibatch", .make = make, .reads_late_rows = reads_history, .holds = Holds::kBatches};
}

}  // namespace atl
