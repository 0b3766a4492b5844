#include "train/trainer.h"

#include <cmath>
#include <cstring>

namespace atl {
namespace {

Model model_of(const Job& job, const RankData& data) {
  const Rows& features = data.part().features;
  return job_model(job, features.cols(), data.classes(), features.is_sparse());
}

}  // namespace

Trainer::Trainer(Context& ctx, Communicator& comm, const Job& job, RankData& data)
    : ctx_(ctx),
      comm_(comm),
      job_(job),
      data_(data),
      model_(model_of(job, data)),
      parameters_(model_.parameters(), job.training.seed),
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
  if (!std::isfinite(loss_sum_)) non_finite_layer_ = training_->first_non_finite_layer();
}

void Trainer::update() {
  comm_.all_reduce(Traffic::kGradient, parameters_.gradients());
  const MatrixView whole(parameters_.gradients().data(), 1, Index(parameters_.gradients().size()));
  finite_ = count_non_finite(ctx_, whole) == 0;  // the same on all ranks
  if (finite_) optimizer_.step(ctx_, learning_rate_);
  parameters_.zero_gradients();
}

Evaluation Trainer::evaluate() {
  return atl::evaluate(ctx_, comm_, data_, job_.training, inference().infer());
}

void Trainer::explain_non_finite(Index epoch, Index last_checkpoint) {
  const std::int32_t mine = non_finite_layer_;
  const auto all = comm_.all_gather(Traffic::kStatistics, std::as_bytes(std::span(&mine, 1)));
  int layer = -1, rank = -1;
  for (int r = 0; r < comm_.size(); ++r) {
    std::int32_t theirs;
    std::memcpy(&theirs, all[std::size_t(r)].data(), sizeof theirs);
    if (theirs >= 0 && (layer < 0 || theirs < layer)) layer = theirs, rank = r;
  }
  const std::string where =
      layer < 0 ? "the gradient"
                : fmt::format("layer {} ({}) on rank {} ({})", layer,
                              model_.layers[std::size_t(layer)]->describe(), rank, comm_.host(rank));
  const std::string checkpoint = last_checkpoint > 0
                                     ? fmt::format("the last good checkpoint is of epoch {}", last_checkpoint)
                                     : "there is no checkpoint yet";
  fail(
      "epoch {}: loss or gradient is not finite; first seen in {}; {}; lower training.optimizer.learningRate, "
      "set training.optimizer.clipNorm or model.norm, and start over with --fresh",
      epoch, where, checkpoint);
}

ScheduleBytes Trainer::bytes() const {
  return training_->bytes();
}

}  // namespace atl
