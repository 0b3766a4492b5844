// The schedule of P3 (Gandhi & Iyer 2021, sections 3.2 and 3.3): push-pull parallelism over mini-batches, one
// at a time, or in its pipeline.
//
// In the pipeline each step computes one phase of each of four batches (Figure 6): forward by columns for the
// batch of step t + 3, forward of the own batch for t + 2, backward of the own batch for t + 1, and backward
// by columns for t. Then step t's update comes. What a phase begins to send arrives while others compute.
//
// All phases of a batch use the weights that it was begun with. With SGD these are the weights at that time:
// w(t + 1) = w(t) − η ∇f(w(t − 3)), where the first batches use the first weights. With Adam they are the
// weights expected after the batch's own step, four updates later: w(t) + 4 (w(t) − w(t − 1)). SpecTrain
// (Chen et al. 2018) and XPipe (Guan et al. 2019) predict them likewise, along the optimiser's last
// direction; train/optimizer.h has the rest of the rule.
#pragma once

#include <optional>
#include <vector>

#include "strategies/exchange/figure_request.h"
#include "strategies/p3/batch_in_flight.h"
#include "strategies/p3/column_inference.h"
#include "strategies/p3/column_rows.h"
#include "strategies/schedule/batch_pass.h"
#include "strategies/schedule/layerwise_inference.h"

namespace atl {

struct PushPullOptions {
  BatchSamplingOptions batches;  // the model says the rest of `sampling`, and of `columns`
  int ahead = 2;                 // BatchStream::Options
  int delay = 0;                 // steps between reading weights and taking their gradient: 0, or 3
  bool predicts = false;  // with a delay: batches read the weights that their step is expected to leave
  Passes passes = Passes::kTraining;
  Precision wire = Precision::kFloat32;
  Index slab_bytes = atl::slab_bytes(0);  // for inference
  std::int64_t epochs = 1;                // batches beyond them aren't made ahead
};

/// Collective: all ranks make the same calls. References outlive it.
class PushPull final : public Schedule {
 public:
  static constexpr int kDelay = 3;

  /// `whole_model`: the same model with all columns, for exact inference of models whose first layers need
  /// them.
  PushPull(Context& ctx, Communicator& comm, const Model& model, Model whole_model, Parameters& parameters,
           const BatchGraph& graph, const PushPullOptions& options);

  std::int64_t steps() const override { return feed_ ? feed_->seeds().steps() : 1; }
  void train(std::int64_t step, TrainingStep& session) override;
  ConstMatrixView infer() override;
  ConstMatrixView embeddings() const override { return inference_.embeddings(); }
  void count_non_finite(const double* unless, double* by_layer) override;
  ScheduleBytes bytes() const override;
  /// With a pipeline: the weights that batches under way were begun with, and what predicts the next ones.
  std::vector<NamedMatrix> state() override;
  void report(FigureRequest& request) override {
    request.offer<BatchCounts>([&] { return feed_ ? feed_->counts() : BatchCounts(); });
  }

 private:
  /// A place in the pipeline: a batch, or none beyond the last one, and the weights and gradients that are
  /// its own.
  struct Place {
    std::unique_ptr<BatchInFlight> flight;
    Matrix weights, gradients;  // (1, trainable)
  };
  SlabOptions inference_options(const Model& model);
  void train_alone(std::int64_t step, TrainingStep& session);
  void train_in_pipeline(std::int64_t step, TrainingStep& session);
  void fill_pipeline(std::int64_t step, TrainingStep& session);
  bool begin(Place& place, std::int64_t step);
  void take_loss(Place& place, TrainingStep& session, bool ahead);
  WeightVersion version_of(Place& place);
  void stash(Place& place);
  void update(TrainingStep& session);
  ConstMatrixView present();
  std::int64_t reallocations() const;
  void enter(Work work) const;

  Context& ctx_;
  Trace* trace_;  // null: nobody asked for one
  Parameters& parameters_;
  const PushPullOptions options_;
  const ColumnShare& share_;
  // For exact inference, by columns …
  std::optional<ColumnInference> first_layers_;
  // … or of models that go through the graph before their first product (SGC), with rows put together and all
  // weights:
  Model whole_model_;
  ColumnRows input_rows_;
  std::optional<WholeWeights> whole_weights_;  // none: this rank's are
  LayerwiseInference inference_;
  // For training:
  LayerRunner runner_;
  std::vector<Place> places_;  // by age, the oldest first; the last one is free between two steps
  Matrix last_move_;           // (1, trainable) the last update's change, where it predicts weights
  Matrix under_way_{1, 2};     // whether weights were stashed, and for how many batches forward is done
  bool has_trained_ = false;
  BatchInFlight* at_loss_ = nullptr;
  std::optional<BatchFeed> feed_;  // none: this schedule doesn't train
};

}  // namespace atl
