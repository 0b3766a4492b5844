// One rank's model in training: parameters, optimiser and schedules, and the session's side of a step, loss
// and update.
#pragma once

#include <map>
#include <memory>

#include "strategies/exchange/figure_request.h"
#include "strategies/schedule/strategy.h"
#include "tensor/buffer.h"
#include "train/evaluation.h"
#include "train/gradient.h"
#include "train/links/link_task.h"
#include "train/not_learning.h"
#include "train/optimizer.h"
#include "train/rank_data.h"

namespace atl {

class Trainer final : private TrainingStep {
 public:
  /// References must outlive it; `data` must be counted. Releases raw features that nothing reads any more.
  /// Collective.
  Trainer(Context& ctx, Communicator& comm, const Job& job, RankData& data, const SideThreads& side = {});

  /// Number of optimiser steps per epoch.
  std::int64_t steps() const { return training_->steps(); }
  /// Trains one step, counted from 1 through the whole run, and returns this rank's Σ of the loss.
  /// Collective.
  double train_step(std::int64_t step, double learning_rate);
  /// The number of training vertices, over all ranks, by which that step's loss is divided.
  double step_vertices() const { return vertices_; }
  /// Trains all steps of an epoch. Collective.
  double train_epoch(Index epoch, double learning_rate);
  /// Metrics on the whole graph with the present weights. Collective.
  Evaluation evaluate();
  /// After evaluate(), with task linkPrediction: metrics of the test pairs.
  std::optional<LinkMetrics> link_metrics() const { return links_ ? links_->test() : std::nullopt; }
  /// The schedule over the whole graph, for logits and embeddings of the present weights.
  Schedule& inference() { return inference_ ? *inference_ : *training_; }

  /// Whether the last step's gradient was finite; if not, no step was taken.
  bool finite() const { return finite_; }
  /// After a step whose gradient wasn't finite: throws Error on rank 0, naming the layer and the rank where a
  /// value that isn't finite was first seen, and what to do. Collective.
  [[noreturn]] void explain_non_finite(const NonFiniteTime& when);

  Parameters& parameters() { return parameters_; }
  DeviceStream& stream() { return *ctx_.stream; }
  Optimizer& optimizer() { return optimizer_; }
  const Model& model() const { return model_; }
  ScheduleBytes bytes() const;  // of the training schedule
  /// This rank's state beside the parameters (Schedule::state). Collective.
  std::vector<NamedMatrix> state() { return training_->state(); }
  /// Figures of the training schedule (Schedule::report), or of the waits for its parts.
  template <class Figures>
  std::optional<Figures> figures() {
    return figures_of<Figures>(*this);
  }
  void report(FigureRequest& request);

 private:
  void loss(ConstMatrixView logits, const LossRows& rows, MatrixView d_logits) override;
  void loss_of_pairs(ConstMatrixView rows, const LossRows& of, MatrixView d_rows);
  void take_part(std::int64_t step);
  void choose_labels(std::span<const VertexId> rows);
  std::span<const VertexId> training_rows_of(Index first, Index count);
  void touches(int layer, std::span<const VertexId> features) override;
  void part_done(int layer, int part) override;
  void layer_done(int layer) override;
  void update() override;

  Context& ctx_;
  Communicator& comm_;
  const Job& job_;
  RankData& data_;
  SideThreads side_;
  Model model_;
  const ModelShare share_;
  Parameters parameters_;
  Gradient gradient_;
  Optimizer optimizer_;
  std::unique_ptr<Schedule> training_;
  std::unique_ptr<Schedule> inference_;  // over the whole graph, where training sees only some of it
  std::unique_ptr<LinkTask> links_;      // with task linkPrediction; else null
  Labels batch_labels_;                  // labels of the step's rows
  std::vector<VertexId> batch_rows_;     // their numbers: 0, 1, …
  DeviceCopies batch_copies_;            // of both
  struct Slice {
    std::vector<VertexId> rows;        // training rows, counted from the slice's first
    std::span<const VertexId> placed;  // the same rows, as kernels read them
  };
  std::map<std::pair<Index, Index>, Slice> slices_;  // by first row and number of rows
  DeviceCopies slice_copies_;
  Buffer<StepState> state_;  // (1) of the present step
  Buffer<double> ahead_;     // (1) loss of the next step, as far as this one computed it
  Buffer<double> outputs_;   // (layers) how many elements of each output aren't finite
  EvaluationBuffers evaluation_buffers_;
  double loss_sum_ = 0, vertices_ = 0;
  std::int64_t step_ = 0;  // the step that is trained, counted from 1
  // Sums on the host over pairs, for the step and for the next one.
  double of_pairs_ = 0, of_pairs_ahead_ = 0, last_of_pairs_ = 0;
  double loss_ahead_ = 0, vertices_ahead_ = 0;  // see LossRows::ahead
  bool finite_ = true;
};

}  // namespace atl
