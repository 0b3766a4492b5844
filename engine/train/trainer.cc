#include "train/trainer.h"

#include <cmath>

namespace atl {
namespace {

Model model_of(const Job& job, const RankData& data) {
  const Rows& features = data.part().features;
  return job_model(job, features.cols(), data.classes(), features.packed());
}

}  // namespace

Trainer::Trainer(Context& ctx, Communicator& comm, const Job& job, RankData& data)
    : ctx_(ctx),
      comm_(comm),
      job_(job),
      data_(data),
      model_(model_of(job, data)),
      parameters_(model_.parameters(), job.training.seed, placement_on(job, comm.rank(), comm.size())),
      gradient_(comm, parameters_),
      optimizer_(job.training.optimizer, parameters_) {
  const ScheduleInput input{
      ctx, comm, job, model_, parameters_, data.training_part(), data.training_vertices(), false};
  training_ = make_schedule(input);
  if (data.inductive())
    inference_ = make_schedule({ctx, comm, job, model_, parameters_, data.part(), data.vertices(), true});
  if (model_.constant_prefix() > 0) data.release_features();
}

double Trainer::train_epoch(Index epoch, double learning_rate) {
  learning_rate_ = learning_rate;
  loss_sum_ = 0;
  non_finite_ = {};
  parameters_.zero_gradients();
  training_->train_epoch(epoch, *this);
  return loss_sum_;
}

/// Full batch: row i of the logits is the training part's owned row i, so the training rows are selected by number.
void Trainer::loss(ConstMatrixView logits, std::span<const VertexId> rows, MatrixView d_logits) {
  ATOLL_CHECK(rows.empty(), "losses of selected rows come with mini-batches");
  const auto scale = Real(1 / data_.train.total);
  loss_sum_ += loss_of(ctx_, data_.training_labels(), job_.training.loss, logits, data_.training_rows(),
                       scale, d_logits);
  // Asked now: the backward pass reuses the memory of the layers' outputs.
  if (!std::isfinite(loss_sum_)) non_finite_.layer = training_->first_non_finite_layer();
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

void Trainer::explain_non_finite(Index epoch, Index last_checkpoint) {
  fail_non_finite(comm_, model_, parameters_, non_finite_, epoch, last_checkpoint);
}

ScheduleBytes Trainer::bytes() const {
  return training_->bytes();
}

}  // namespace atl
