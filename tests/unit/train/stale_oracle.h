// PipeGCN's recurrence for any model: one rank holds the whole graph, plays every part (stale_parts.h), and trains by the schedule
// of all full-batch strategies and the models' own layers. What tests hold strategy pipegcn against.
#pragma once

#include <vector>

#include "strategies/schedule/full_batch.h"
#include "train/one_step.h"
#include "train/small_job.h"
#include "train/stale_parts.h"

namespace atl {

/// The session's side of an epoch on one rank: keeps the mean loss and takes the trainer's steps.
class OracleStep final : public TrainingStep {
 public:
  explicit OracleStep(SmallRank& rank) : rank_(rank) {}
  void loss(ConstMatrixView logits, const LossRows&, MatrixView d_logits) override {
    const RankData& data = rank_.data;
    const double total = data.train.total;
    double sum = 0;
    loss_of(rank_.ctx, data.training_labels(), rank_.job.training.loss, logits, data.training_rows(),
            Real(1 / total), d_logits, &sum);
    mean = sum / total;
  }
  void update() override {
    take_step(rank_.ctx, rank_.trainer->optimizer(), rank_.job.training.optimizer.learning_rate);
    rank_.trainer->parameters().zero_gradients(rank_.ctx);
  }
  double mean = 0;

 private:
  SmallRank& rank_;
};

/// The part of each of the data set's vertices where so many ranks train.
inline std::vector<int> part_of_vertices(const Job& job, const Dataset& dataset, int parts) {
  const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, parts),
                                                     graph_transforms(job), training_marks(dataset, job));
  std::vector<int> part(prepared.ids().size());
  for (int p = 0; p < parts; ++p)
    for (Index row = prepared.part_offsets()[std::size_t(p)];
         row < prepared.part_offsets()[std::size_t(p) + 1]; ++row)
      part[std::size_t(prepared.ids()[std::size_t(row)])] = p;
  return part;
}

/// train_small() of a job of strategy pipegcn with staleness 1, on one rank that plays `parts`.
inline SmallResult train_stale_oracle(const Job& job, const std::filesystem::path& dataset, int parts,
                                      int epochs) {
  SmallResult result;
  run_ranks(1, [&](Communicator& comm) {
    // Of its trainer all but the schedule, which may have released the features.
    SmallRank rank(comm, job, dataset, 1);
    const RankData fresh(job, rank.dataset, rank.prepared, 0);
    const GraphPart& whole = fresh.training_part();
    const std::vector<int> part = part_of_vertices(job, rank.dataset, parts);
    // A late row gets the mask of the epoch that reads it, so rows are handed on as they are.
    const Model model = make_model(
        job.model, job.training,
        {whole.features.cols(), fresh.classes(), whole.features.packed(), /*exact_exchange=*/false});
    const bool recomputes = job.training.recompute == Recompute::kLayer;
    FullBatch schedule(rank.ctx, comm, model, rank.trainer->parameters(), whole,
                       rank.data.training_vertices(),
                       {job.training.seed, recomputes ? Passes::kRecomputing : Passes::kTraining},
                       [&](const std::vector<ExchangedLayer>& layers) {
                         return std::make_unique<StaleParts>(whole, part, job, layers);
                       });
    OracleStep step(rank);
    std::vector<double> losses;
    rank.trainer->parameters().zero_gradients(rank.ctx);
    for (Index epoch = 1; epoch <= epochs; ++epoch) {
      schedule.train(epoch, step);
      losses.push_back(step.mean);
    }
    result = result_of(losses, *rank.trainer);
  });
  return result;
}

}  // namespace atl
