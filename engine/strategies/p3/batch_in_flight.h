// One mini-batch on its way through P3's four phases (Gandhi & Iyer 2021, section 3.3): forward by columns,
// forward of the own batch, backward of the own batch, backward by columns. What a phase has begun to send
// travels until the batch's next phase, so another batch's phase can be computed meanwhile.
#pragma once

#include "sampler/batch_stream.h"
#include "strategies/p3/push_pull_pass.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

struct BatchInFlightOptions {
  std::uint64_t seed = 1;
  Passes passes = Passes::kTraining;
  Precision wire = Precision::kFloat32;
  bool weighs = false;  // batches have SharedRows
};

/// Reused for one batch after the other. Phases are called in order, once each, with the same weights;
/// collective over all ranks. References outlive it.
class BatchInFlight {
 public:
  BatchInFlight(Context& ctx, Communicator& comm, const Model& model, const LayerRunner& runner,
                const ColumnShare& share, const BatchInFlightOptions& options);

  /// `made` outlives the phases. `step` (from 1) keys draws.
  void begin(const StreamedBatch& made, std::int64_t step);
  std::int64_t step() const { return step_; }
  const Batch& batch() const { return made_->batch; }
  const StepPairs& pairs() const { return made_->pairs; }
  void end() { step_ = 0; }
  /// The layer whose product is summed over ranks. Layers after it compute only the rank's own batch.
  int whole_layer_number() const { return split().whole; }
  /// While on, forward repeats one that was already made of this batch, so that running statistics don't
  /// change again.
  void repeat(bool on) { pass_.repeat(on); }

  void forward_columns(const WeightVersion& weights);
  void forward_own(const WeightVersion& weights);
  /// Goes backward from d_logits(), which the loss has filled. Tells `session`, unless it is null, of each
  /// layer whose gradients are whole.
  void backward_own(const WeightVersion& weights, TrainingStep* session);
  void backward_columns(const WeightVersion& weights, TrainingStep* session);

  ConstMatrixView logits() { return has_rest() ? rest_.output(layers() - 1) : whole_.output(split().whole); }
  MatrixView d_logits() { return has_rest() ? rest_.d_output() : whole_.d_output(); }
  void count_non_finite(const double* unless, double* by_layer);

  /// By layer, the rows of the batch that was begun last.
  const std::vector<LayerRows>& rows() const { return pass_.rows(); }
  std::int64_t reallocations() const;
  void count(ScheduleBytes& bytes) const;

 private:
  const SplitLayers& split() const { return pass_.split(); }
  int layers() const { return int(model_.layers.size()); }
  bool has_rest() const { return split().whole + 1 < layers(); }
  /// Whether later layers read the output of the layer whose product is made whole (GCNII's h⁰).
  bool is_tapped() const { return whole_.tapped() >= 0; }
  const Layer& whole_layer() const { return *model_.layers[std::size_t(split().whole)]; }
  void shape(PassMemory& memory, std::vector<LayerRows>& rows);
  LayerInput whole_input();
  RangeInput rest_input();
  void enter(Work work) const;

  Context& ctx_;
  Communicator& comm_;
  const Model& model_;
  const LayerRunner& runner_;
  Trace* trace_;
  const bool weighs_;
  const ColumnLayer* const by_columns_;  // the whole layer's; null: this rank has all columns
  PushPullPass pass_;
  DeviceCopies features_;
  Rows input_, self_;  // (the group's rows, columns here); self_: the destinations' rows, if packed
  PassMemory constant_, whole_, rest_;
  std::vector<LayerRows> constant_rows_, whole_rows_, rest_rows_;
  const StreamedBatch* made_ = nullptr;
  std::int64_t step_ = 0;  // 0: not in flight
};

}  // namespace atl
