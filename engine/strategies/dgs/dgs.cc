// Strategy `dgs`: mini-batches. Masks that are trained beside the model choose what batches read from other
// ranks.
#include "strategies/dgs/info.h"

#include "job/strategies/batch_options.h"
#include "strategies/dgs/explanations.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

ExplanationOptions explanation_options(const ScheduleInput& in, const FeatureStoreOptions& features) {
  const Options& options = in.job.strategy.options;
  const Index columns = in.holding.batches().features.cols();
  return {
      .every = options.integer("explainEvery"),
      .vertices = explains_vertices(in.job),
      .features = explains_features(in.job, columns),
      .feature_rate = feature_rate(in.job, columns),
      .shift = options.number("epsilon"),
      .split = options.text("split") == "mask" ? RemoteDraws::Split::kMask : RemoteDraws::Split::kNeighbours,
      .odds = options.text("probability") == "odds",
      .of_batch = options.text("label") == "batch",
      .training_alone = in.job.training.setting == Setting::kInductive,
      .features_as = features,
      .explainer = {.epochs = int(options.integer("explainEpochs")),
                    .threshold = options.number("lossThreshold"),
                    .learning_rate = options.number("explainRate"),
                    .multi_label = in.job.training.loss == Loss::kBinaryCrossEntropy},
      .seed = in.job.training.seed};
}

std::unique_ptr<Schedule> make_dgs(const ScheduleInput& in) {
  BatchSamplingOptions batches = batch_sampling(in);
  batches.features =
      FeatureStoreOptions{.bfloat16 = in.job.wire() == Precision::kBFloat16, .fill = filled_columns(in)};
  const MiniBatchOptions chosen{.batches = batches,
                                .ahead = int(in.job.strategy.options.integer("prefetch")),
                                .passes = passes_of(in),
                                .slab_bytes = slab_bytes(in.job.resources.memory),
                                .epochs = in.job.training.epochs,
                                .gpu_features = in.job.strategy.options.number("gpuFeatures")};
  const BatchGraph& graph = in.holding.batches();
  const bool explains =
      !in.inference_only && in.comm.size() > 1 && steps_between_masks(in.job, graph.features.cols()) > 0;
  return std::make_unique<MiniBatch>(
      in.ctx, in.comm, in.model, in.parameters, graph, chosen,
      explains ? std::make_unique<Explanations>(in.ctx, in.comm, in.model, in.parameters, graph,
                                                explanation_options(in, *batches.features))
               : nullptr);
}

}  // namespace

Strategy dgs_row() {
  return {.kind = "dgs", .make = make_dgs, .holds = Holds::kBatches};
}

}  // namespace atl
