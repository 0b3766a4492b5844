// Strategy `minibatch`: a step is a batch of vertices and of neighbours drawn for them.
#include "job/strategies/minibatch.h"
#include "strategy/kinds/kinds.h"
#include "strategy/mini_batch.h"

namespace atl {
namespace {

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  const std::string& policy = options.text("cache.policy");
  const MiniBatchOptions chosen{.seed = in.job.training.seed,
                                .fanout = minibatch_fanout(in.job),
                                .replace = options.flag("replace"),
                                .batch_size = options.integer("batchSize"),
                                .ahead = int(options.integer("prefetch")),
                                .threads = in.side.count,
                                .cpus = in.side.cpus,
                                .mapped = options.text("structure") == "mapped",
                                .features = {.bfloat16 = in.job.strategy.wire == Precision::kBFloat16,
                                             .cache_bytes = options.integer("cache.bytes"),
                                             .policy = policy == "degree"       ? CachePolicy::kDegree
                                                       : policy == "presampled" ? CachePolicy::kPresampled
                                                                                : CachePolicy::kLru},
                                .passes = passes_of(in),
                                .reduces = in.job.model.norm == Norm::kBatch,
                                .slab_bytes = slab_bytes(in.job.resources.memory),
                                .epochs = in.job.training.epochs};
  return std::make_unique<MiniBatch>(in.ctx, in.comm, in.model, in.parameters, in.holding.batches(), chosen);
}

}  // namespace

Strategy minibatch_row() {
  return {.kind = "minibatch", .make = make, .holds = Holds::kBatches};
}

}  // namespace atl
