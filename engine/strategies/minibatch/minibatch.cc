// Strategy `minibatch`: a step is a batch of vertices and of neighbours drawn for them.
#include "job/samplers.h"
#include "job/strategies/batch_options.h"
#include "strategies/schedule/embedding_history.h"
#include "strategies/schedule/mini_batch.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

constexpr std::int64_t kPresampledSteps = 32;

/// Sampler `historical`: a batch ends at vertices of other ranks, whose older embeddings are kept here.
class HistoricalEmbeddings final : public BatchHooks {
 public:
  HistoricalEmbeddings(const ScheduleInput& in, const HistoryOptions& options)
      : rows_(
            history_rows(in.holding.batches().training, in.holding.batches().owners, in.comm, options.rows)),
        history_(in.ctx, in.comm, in.model, *rows_, options, in.job.wire()) {}

  void prepare(BatchSamplingOptions& batches) override { batches.history = &history_.directory(); }
  void start(std::int64_t step) override { history_.start(step); }
  void before_forward(const BatchStep& at) override {
    history_.begin(at.step);
    history_.read(at.batch.batch, at.memory);
  }
  void after_forward(const BatchStep& at) override { history_.push(at.batch.pushes, at.memory); }
  std::vector<NamedMatrix> state() override { return history_.state(); }
  std::int64_t reallocations() const override { return history_.reallocations(); }
  void count(ScheduleBytes& bytes) const override { history_.count(bytes); }

 private:
  const std::unique_ptr<HistoryRows> rows_;
  EmbeddingHistory history_;
};

std::unique_ptr<Schedule> make_minibatch(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  const std::string& policy = options.text("cache.policy");
  const FeatureStoreOptions features{.bfloat16 = in.job.wire() == Precision::kBFloat16,
                                     .cache_bytes = options.integer("cache.bytes"),
                                     .policy = policy == "degree"       ? CachePolicy::kDegree
                                               : policy == "presampled" ? CachePolicy::kPresampled
                                                                        : CachePolicy::kLru,
                                     .fill = filled_columns(in)};
  BatchSamplingOptions batches = batch_sampling(in);
  const bool once = !reads_neighbours(in.job);
  if (!once) batches.features = features;
  batches.presampled = kPresampledSteps;
  const MiniBatchOptions chosen{.batches = batches,
                                .ahead = int(options.integer("prefetch")),
                                .passes = passes_of(in),
                                .slab_bytes = slab_bytes(in.job.resources.memory),
                                .epochs = in.job.training.epochs,
                                .gpu_features = options.number("gpuFeatures"),
                                .once = once,
                                .once_folder = memory_of(in.ctx.device).is_hosts ? sums_folder(in.job) : "",
                                .inductive = in.job.training.setting == Setting::kInductive};
  std::unique_ptr<BatchHooks> history;
  if (const auto kept = job_history(in.job); kept && !in.inference_only)
    history = std::make_unique<HistoricalEmbeddings>(in, *kept);
  return std::make_unique<MiniBatch>(in.ctx, in.comm, in.model, in.parameters, in.holding.batches(), chosen,
                                     std::move(history));
}

/// Historical embeddings are rows of earlier steps, so dropout is applied where they are read.
DropsOut minibatch_drops_out(const Job& job) {
  return reads_history(job) ? DropsOut::kReaders : DropsOut::kMakers;
}

}  // namespace

Strategy minibatch_row() {
  return {.kind = "minibatch",
          .make = make_minibatch,
          .drops_out = minibatch_drops_out,
          .holds = Holds::kBatches};
}

}  // namespace atl
