#include "train/trainer.h"

#include <cmath>

namespace atl {
namespace {

Model model_of(const Job& job, const RankData& data) {
  return job_model(job, data.features(), data.classes(), data.packed());
}

}  // namespace

Trainer::Trainer(Context& ctx, Communicator& comm, const Job& job, RankData& data, const SideThreads& side)
    : ctx_(ctx),
      comm_(comm),
      job_(job),
      data_(data),
      model_(model_of(job, data)),
      parameters_(model_.parameters(), job.training.seed, placement_on(job, comm.rank(), comm.size())),
      gradient_(comm, parameters_),
      optimizer_(job.training.optimizer, parameters_) {
  training_ = make_schedule(
      {ctx, comm, job, model_, parameters_, data.held_in_training(), data.training_vertices(), false, side});
  if (data.inductive())
    inference_ = make_schedule({ctx, comm, job, model_, parameters_, data.held(), data.vertices(), true});
  if (model_.constant_prefix() > 0) data.release_features();
}

double Trainer::train_epoch(Index epoch, double learning_rate) {
  double sum = 0;
  for (std::int64_t step = 1; step <= steps(); ++step)
    sum += train_step((epoch - 1) * steps() + step, learning_rate);
  return sum;
}

double Trainer::train_step(std::int64_t step, double learning_rate) {
  learning_rate_ = learning_rate;
  loss_sum_ = 0;
  non_finite_ = {};
  parameters_.zero_gradients();
  training_->train(step, *this);
  return loss_sum_;
}

/// Of a full batch, row i of the logits is the training part's owned row i, and the training rows are selected by number. Of chosen
/// rows, all are training vertices.
void Trainer::loss(ConstMatrixView logits, const LossRows& of, MatrixView d_logits) {
  vertices_ = of.total > 0 ? of.total : data_.train.total;
  const auto scale = Real(1 / vertices_);
  const bool chosen = of.total > 0;
  if (chosen) choose_labels(of.rows);
  loss_sum_ +=
      loss_of(ctx_, chosen ? batch_labels_ : data_.training_labels(), job_.training.loss, logits,
              chosen ? std::span<const VertexId>(batch_rows_) : data_.training_rows(), scale, d_logits);
  // Asked now: the backward pass reuses the memory of the layers' outputs.
  if (!std::isfinite(loss_sum_)) non_finite_.layer = training_->first_non_finite_layer();
}

void Trainer::choose_labels(std::span<const VertexId> rows) {
  for (auto row = VertexId(batch_rows_.size()); row < VertexId(rows.size()); ++row)
    batch_rows_.push_back(row);
  batch_rows_.resize(rows.size());
  const Labels& all = data_.labels();
  batch_labels_.columns = all.columns;
  batch_labels_.classes.clear(), batch_labels_.targets.clear();
  for (const VertexId row : rows) {
    if (all.columns == 0) {
      batch_labels_.classes.push_back(all.classes[std::size_t(row)]);
      continue;
    }
    const auto targets = all.targets.begin() + std::ptrdiff_t(row * all.columns);
    batch_labels_.targets.insert(batch_labels_.targets.end(), targets, targets + all.columns);
  }
}

/// Whether they are finite is asked now: the sum spreads it to all ranks.
void Trainer::part_done(int layer, int part) {
  if (non_finite_.share < 0) non_finite_.share = gradient_.last_non_finite(ctx_, layer, part);
  gradient_.begin_part(layer, part);
}

void Trainer::layer_done(int layer) {
  if (non_finite_.share < 0) non_finite_.share = gradient_.last_non_finite(ctx_, layer);
  gradient_.begin_sum(layer);
}

void Trainer::update() {
  gradient_.sum(ctx_);
  finite_ = gradient_.finite(ctx_);
  if (finite_) {
    gradient_.clip(ctx_, job_.training.optimizer.clip_norm);
    optimizer_.step(ctx_, learning_rate_);
  } else {
    non_finite_.sum = gradient_.last_non_finite(ctx_);
  }
  parameters_.zero_gradients();
}

Evaluation Trainer::evaluate() {
  return atl::evaluate(ctx_, comm_, data_, job_.training, inference().infer());
}

void Trainer::explain_non_finite(const std::string& when, const Reached& last_checkpoint) {
  fail_non_finite(comm_, model_, parameters_, non_finite_, when, last_checkpoint);
}

ScheduleBytes Trainer::bytes() const {
  return training_->bytes();
}

}  // namespace atl
