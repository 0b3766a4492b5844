#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "comm/stream_watcher.h"
#include "strategies/gnnpipe/figures.h"
#include "strategies/schedule/batch_counts.h"
#include "tensor/copies.h"

namespace atl {
namespace {

Model model_of(const Job& job, const RankData& data) {
  return job_model(job, data.features(), data.classes());
}

}  // namespace

Trainer::Trainer(Context& ctx, Communicator& comm, const Job& job, RankData& data, const SideThreads& side)
    : ctx_(ctx),
      comm_(comm),
      job_(job),
      data_(data),
      side_(side),
      model_(model_of(job, data)),
      share_(model_share_of(job, model_, comm.rank())),
      parameters_(model_.parameters(), job.training.seed, share_.places, ctx.device),
      gradient_(ctx, comm, parameters_, job.training.deterministic),
      optimizer_(job.training.optimizer, parameters_, share_.in_flight - 1),
      batch_copies_(ctx),
      slice_copies_(ctx),
      state_(ctx.device, 1),
      ahead_(ctx.device, 1),
      outputs_(ctx.device, Index(model_.layers.size())),
      evaluation_buffers_(ctx.device) {
  data.place(ctx);
  if (data.links() != nullptr) links_ = std::make_unique<LinkTask>(ctx, comm, job, data, model_);
  training_ = make_schedule(
      {ctx, comm, job, model_, parameters_, data.held_in_training(), data.training_vertices(), false, side_});
  if (data.has_training_part())
    inference_ = make_schedule({ctx, comm, job, model_, parameters_, data.held(), data.vertices(), true});
  if (model_.constant_prefix() > 0) data.release_features();
}

void Trainer::report(FigureRequest& request) {
  training_->report(request);
  if (const auto waited = data_.waited_seconds())
    request.offer<BatchCounts>([&] { return BatchCounts{.waited_seconds = *waited}; });
}

/// Takes the next part where an epoch or a step begins with another one, because servers' copies are drawn
/// again, or their vertices are trained in batches.
void Trainer::take_part(std::int64_t step) {
  const Index epoch = (step - 1) / steps() + 1;
  const auto batch = int((step - 1) % steps());
  if (!data_.is_other_in(epoch, batch)) return;
  data_.take(ctx_, epoch, batch, side_.cpus);
  training_->take(data_.training_part(), data_.training_vertices());
  if (model_.constant_prefix() > 0) data_.release_features();
}

double Trainer::train_epoch(Index epoch, double learning_rate) {
  double sum = 0;
  for (std::int64_t step = 1; step <= steps(); ++step)
    sum += train_step((epoch - 1) * steps() + step, learning_rate);
  return sum;
}

double Trainer::train_step(std::int64_t step, double learning_rate) {
  StreamWatcher* const watcher = comm_.stream_watcher();
  if (watcher != nullptr && data_.has_training_part() && steps() > 1)
    watcher->works_on(int((step - 1) % steps()));  // its batches are the same in every epoch
  take_part(step);
  ctx_.stream->begin_round(Round::kStep);
  step_ = step;
  of_pairs_ = of_pairs_ahead_ = 0;
  begin_step(ctx_, optimizer_.rate(learning_rate), optimizer_.steps() + 1, state_.data());
  zero_sums(ctx_, outputs_.span());
  gradient_.clear(ctx_);
  const double counted_ahead = std::exchange(loss_ahead_, 0);
  vertices_ = std::exchange(vertices_ahead_, 0);
  training_->train(step, *this);
  const StepState state = read(ctx_, state_.data());  // the step's only wait of the host for the device
  loss_sum_ = state.loss + of_pairs_ + counted_ahead;
  if (vertices_ahead_ > 0) loss_ahead_ = links_ ? of_pairs_ahead_ : read(ctx_, ahead_.data());
  finite_ = state.not_finite == 0;
  if (finite_) optimizer_.count_step();
  return loss_sum_;
}

/// In a full batch, row i of the logits is the training part's owned row i, and training rows are selected by
/// number. Chosen rows are all training vertices.
void Trainer::loss(ConstMatrixView logits, const LossRows& of, MatrixView d_logits) {
  if (links_) return loss_of_pairs(logits, of, d_logits);
  const double vertices = of.total > 0 ? of.total : data_.loss_vertices();
  (of.ahead ? vertices_ahead_ : vertices_) = vertices;
  const auto scale = Real(1 / vertices);
  const bool chosen = of.total > 0;
  if (chosen) choose_labels(of.rows);
  if (of.ahead) zero_sums(ctx_, ahead_.span());
  double* const sum = of.ahead ? ahead_.data() : &state_.data()->loss;
  if (chosen) {
    batch_copies_.restart();
    const LabelView labels = on_device(batch_copies_, batch_labels_.view(), Index(batch_rows_.size()));
    const auto selected = batch_copies_.of(std::span<const VertexId>(batch_rows_));
    loss_of(ctx_, labels, job_.training.loss, logits, selected, scale, d_logits, sum);
  } else if (of.first >= 0) {
    loss_of(ctx_, data_.training_labels().slice(of.first, logits.rows), job_.training.loss, logits,
            training_rows_of(of.first, logits.rows), scale, d_logits, sum);
  } else {
    loss_of(ctx_, data_.training_labels(), job_.training.loss, logits, data_.training_rows(), scale, d_logits,
            sum);
  }
  // Counts now, because the backward pass reuses the memory of the layers' outputs.
  training_->count_non_finite(sum, outputs_.data());
}

/// The host has the sum, so a copy on the device is checked for finiteness.
void Trainer::loss_of_pairs(ConstMatrixView rows, const LossRows& of, MatrixView d_rows) {
  (of.ahead ? vertices_ahead_ : vertices_) = of.pairs == nullptr ? data_.train.total : of.pairs->total;
  last_of_pairs_ = links_->loss(step_ + (of.ahead ? 1 : 0), rows, of,
                                of.weights ? *of.weights : parameters_.present(), d_rows);
  (of.ahead ? of_pairs_ahead_ : of_pairs_) += last_of_pairs_;
  batch_copies_.restart();
  training_->count_non_finite(batch_copies_.of(std::span<const double>(&last_of_pairs_, 1)).data(),
                              outputs_.data());
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

/// Keeps each slice's rows, because the same slices come in every epoch.
std::span<const VertexId> Trainer::training_rows_of(Index first, Index count) {
  const auto [place, is_new] = slices_.try_emplace({first, count});
  Slice& slice = place->second;
  if (!is_new) return slice.placed;
  const std::span<const VertexId> rows = data_.training_rows_here();  // ascending
  for (auto row = std::ranges::lower_bound(rows, first); row != rows.end() && *row < first + count; ++row)
    slice.rows.push_back(VertexId(*row - first));
  return slice.placed = slice_copies_.of(std::span<const VertexId>(slice.rows));
}

void Trainer::touches(int layer, std::span<const VertexId> features) {
  gradient_.touches(ctx_, layer, features);
}

void Trainer::part_done(int layer, int part) {
  gradient_.begin_part(ctx_, layer, part);
}

void Trainer::layer_done(int layer) {
  gradient_.begin_sum(ctx_, layer);
}

void Trainer::update() {
  gradient_.sum(ctx_);
  gradient_.count_non_finite(ctx_, state_.data());
  gradient_.clip(ctx_, job_.training.optimizer.clip_norm, state_.data());
  optimizer_.step(ctx_, state_.data());
}

Evaluation Trainer::evaluate() {
  ctx_.stream->begin_round(Round::kEvaluation);
  if (links_) return links_->evaluate(inference().infer(), parameters_.present());
  return atl::evaluate(ctx_, comm_, data_, job_.training, inference().infer(), evaluation_buffers_);
}

void Trainer::explain_non_finite(const NonFiniteTime& when) {
  NonFinite mine;
  std::vector<double> outputs = read(ctx_, std::span<const double>(outputs_.span()));
  if (auto counted = figures_of<StageNonFinite>(*training_))
    mine.stage = counted->stage, outputs = std::move(counted->by_layer);
  const auto first = std::ranges::find_if(outputs, [](double count) { return count > 0; });
  if (first != outputs.end()) mine.layer = std::int32_t(first - outputs.begin());
  mine.share = gradient_.last_non_finite_share(ctx_);
  if (!finite_) mine.sum = gradient_.last_non_finite(ctx_);
  fail_non_finite(comm_, model_, parameters_, mine, when);
}

ScheduleBytes Trainer::bytes() const {
  return training_->bytes();
}

}  // namespace atl
