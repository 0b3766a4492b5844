// The schedule of mini-batches: each step is a pass over one batch of vertices and of the neighbours that were drawn for them
// (sampler/). Threads of their own make the next steps' batches while this one trains.
#pragma once

#include <optional>

#include "strategies/schedule/batch_feed.h"
#include "strategies/schedule/device_features.h"
#include "strategies/schedule/embedding_history.h"
#include "strategies/dgs/explanations.h"
#include "strategies/schedule/slab_inference.h"

namespace atl {

struct MiniBatchOptions {
  BatchSamplingOptions batches;  // with features; the model says the rest of `sampling`
  int ahead = 2;                 // BatchStream::Options
  Passes passes = Passes::kTraining;
  Index slab_bytes = atl::slab_bytes(0);  // of inference
  std::int64_t epochs = 1;                // batches beyond them aren't made ahead
  std::optional<ExplanationOptions>
      explained{};                          // of several ranks; none: masks say nothing of what batches read
  std::optional<HistoryOptions> history{};  // none: all that a batch needs is computed for it
  Precision wire = Precision::kFloat32;     // of what is pushed
  double gpu_features = 0;                  // share of a GPU's memory for own rows of features
};

/// Collective: all ranks make the same calls. References outlive it.
class MiniBatch final : public Schedule {
 public:
  MiniBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
            const BatchGraph& graph, const MiniBatchOptions& options);
  ~MiniBatch() override;

  std::int64_t steps() const override { return feed_ ? feed_->seeds().steps() : 1; }
  void train(std::int64_t step, TrainingStep& session) override;
  ConstMatrixView infer() override { return inference_.infer(); }
  ConstMatrixView embeddings() const override { return inference_.embeddings(); }
  void count_non_finite(const double* unless, double* by_layer) override;
  ScheduleBytes bytes() const override;
  std::vector<NamedMatrix> state() override;
  /// BatchCounts and, where it explains, ExplainedFigures of the last explanation.
  void report(FigureRequest& request) override;

 private:
  void start(std::int64_t step);
  std::int64_t growths() const;
  void tell(Work work) const;

  Context& ctx_;
  Communicator& comm_;
  Trace* trace_;  // null: nobody asked for one
  Parameters& parameters_;
  const MiniBatchOptions options_;
  LayerRunner runner_;
  const std::unique_ptr<DeviceFeatures> features_;  // null: this schedule doesn't train
  SlabInference inference_;
  // Of training:
  BatchPass pass_;
  PassMemory memory_;
  DeviceCopies copies_;  // of what a step's loss reads
  std::optional<Explanations> explanations_;
  std::unique_ptr<HistoryRows> history_rows_;
  std::optional<EmbeddingHistory> history_;  // none: nothing is kept
  std::optional<BatchFeed> feed_;            // none: this schedule doesn't train
};

}  // namespace atl
