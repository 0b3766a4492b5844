#include "strategies/p3/push_pull.h"

#include <algorithm>

namespace atl {
namespace {

const HeldColumns& columns_of(const BatchGraph& graph) {
  ATOLL_CHECK(graph.columns.has_value(), "features are held by rows");
  return *graph.columns;
}

BatchFeedOptions feed_options(const Model& model, const PushPullOptions& options) {
  BatchFeedOptions feed{.batches = options.batches,
                        .ahead = options.ahead,
                        .held = options.delay + 1,
                        .epochs = options.epochs};
  feed.batches.sampling.normalisation = model.needs.normalisation;
  feed.batches.sampling.attention = model.needs.attention;
  feed.batches.columns = group_options(model);
  feed.batches.sampling.transpose_input = feed.batches.columns->hops == 0;  // else the group's batch has one
  return feed;
}

SlabOptions slab_options(const Model& model, const ColumnShare& share, const PushPullOptions& options) {
  return {.mapped = options.batches.mapped,
          .bytes = options.slab_bytes,
          .width = infers_by_columns(model) ? slab_width(model, share) : 0,
          .seed = options.batches.sampling.seed};
}

}  // namespace

PushPull::PushPull(Context& ctx, Communicator& comm, const Model& model, Model whole_model,
                   Parameters& parameters, const BatchGraph& graph, const PushPullOptions& options)
    : ctx_(ctx),
      trace_(comm.trace()),
      parameters_(parameters),
      options_(options),
      share_(columns_of(graph).share),
      first_layers_(infers_by_columns(model)
                        ? std::optional<ColumnInference>(std::in_place, ctx, comm, model, parameters, graph,
                                                         slab_options(model, share_, options))
                        : std::nullopt),
      whole_model_(std::move(whole_model)),
      input_rows_(comm, *ctx.pool, columns_of(graph)),
      whole_weights_(share_.is_split() && !first_layers_
                         ? std::optional<WholeWeights>(std::in_place, comm, whole_model_, parameters, share_,
                                                       options.batches.sampling.seed)
                         : std::nullopt),
      inference_(ctx, comm, first_layers_ ? model : whole_model_,
                 whole_weights_ ? whole_weights_->parameters() : parameters, graph, inference_options(model)),
      runner_(ctx, model, comm.trace()) {
  under_way_.zero();
  if (options.passes == Passes::kInference) return;
  ATOLL_CHECK(options.delay == 0 || options.delay == kDelay, "a delay of {}", options.delay);
  ctx.workspace->expect_batches();
  const BatchInFlightOptions flight{options.batches.sampling.seed, options.passes, options.wire,
                                    options.batches.weighs};
  const Index trainable = options.delay > 0 ? Index(parameters.trainable().size()) : 0;
  for (int i = 0; i <= options.delay; ++i)
    places_.push_back({std::make_unique<BatchInFlight>(ctx, comm, model, runner_, share_, flight),
                       Matrix(1, trainable, ctx.device), Matrix(1, trainable, ctx.device)});
  for (Place& each : places_) each.weights.zero();
  if (options.predicts) {
    last_move_ = Matrix(1, trainable, ctx.device);
    last_move_.zero();
  }
  feed_.emplace(comm, graph, feed_options(model, options));
}

SlabOptions PushPull::inference_options(const Model& model) {
  SlabOptions slabs = slab_options(model, share_, options_);
  if (first_layers_)
    slabs.first = &*first_layers_;
  else
    slabs.input = &input_rows_;
  return slabs;
}

void PushPull::train(std::int64_t step, TrainingStep& session) {
  if (trace_ != nullptr && (step - 1) % steps() == 0) trace_->begin_epoch((step - 1) / steps() + 1);
  const std::int64_t before = reallocations();
  if (options_.delay == 0)
    train_alone(step, session);
  else
    train_in_pipeline(step, session);
  has_trained_ = true;
  enter(Work::kNone);
  if (reallocations() > before) ++feed_->counts().reallocations;
}

/// Steps of the run are counted from 1, batches from 0.
bool PushPull::begin(Place& place, std::int64_t step) {
  place.flight->end();
  if (!feed_->has(step - 1)) return false;
  enter(Work::kPrefetch);
  const StreamedBatch& made = feed_->next();
  if (made.grew) ++feed_->counts().reallocations;
  place.flight->begin(made, step);
  return true;
}

void PushPull::take_loss(Place& place, TrainingStep& session, bool ahead) {
  BatchInFlight& flight = *place.flight;
  enter(Work::kLoss);
  at_loss_ = &flight;
  LossRows rows{feed_->owned_rows(flight.batch()), flight.batch().total};
  rows.ahead = ahead;
  rows.pairs = &flight.pairs();
  if (options_.delay > 0) rows.weights = version_of(place);
  session.loss(flight.logits(), rows, flight.d_logits());
}

void PushPull::train_alone(std::int64_t step, TrainingStep& session) {
  if (!feed_->has(step - 1)) feed_->start(step - 1);
  begin(places_[0], step);
  BatchInFlight& flight = *places_[0].flight;
  const WeightVersion weights = parameters_.present();
  flight.forward_columns(weights);
  flight.forward_own(weights);
  take_loss(places_[0], session, false);
  flight.backward_own(weights, &session);
  flight.backward_columns(weights, &session);
  enter(Work::kUpdate);
  session.update();
}

WeightVersion PushPull::version_of(Place& place) {
  WeightVersion version = parameters_.present();
  version.trainable = place.weights.data();
  version.gradients = place.gradients.data();
  return version;
}

ConstMatrixView PushPull::present() {
  const auto values = parameters_.trainable();
  return {values.data(), 1, Index(values.size())};
}

/// Keeps the weights for the batch that begins now. The update of its step is the fourth from here.
void PushPull::stash(Place& place) {
  axpby(ctx_, 1, present(), 0, place.weights);
  if (options_.predicts) axpby(ctx_, kDelay + 1, last_move_, 1, place.weights);
}

void PushPull::update(TrainingStep& session) {
  enter(Work::kUpdate);
  if (options_.predicts) axpby(ctx_, -1, present(), 0, last_move_);
  session.update();
  if (options_.predicts) axpby(ctx_, 1, present(), 1, last_move_);
}

/// Fills the pipeline as earlier steps would have: three batches are under way, each with the weights that it
/// was begun with. Those are the present ones where training begins, and a checkpoint's where it goes on.
void PushPull::fill_pipeline(std::int64_t step, TrainingStep& session) {
  const bool resumes = !has_trained_ && under_way_.at(0, 0) != 0;
  const int done = resumes ? int(under_way_.at(0, 1)) : 0;
  if (!feed_->has(step - 1)) feed_->start(step - 1);
  if (options_.predicts && !resumes) fill(ctx_, 0, last_move_);
  for (int i = 0; i < kDelay; ++i) {
    Place& place = places_[std::size_t(i)];
    if (!resumes) stash(place);
    fill(ctx_, 0, place.gradients);
    if (!begin(place, step + i)) continue;
    place.flight->repeat(i < done);
    place.flight->forward_columns(version_of(place));
    if (i + 1 < kDelay) place.flight->forward_own(version_of(place));
    place.flight->repeat(false);
  }
  Place& oldest = places_[0];
  take_loss(oldest, session, false);
  oldest.flight->backward_own(version_of(oldest), nullptr);
}

void PushPull::train_in_pipeline(std::int64_t step, TrainingStep& session) {
  if (places_[0].flight->step() != step) fill_pipeline(step, session);
  Place &oldest = places_[0], &older = places_[1], &newer = places_[2], &newest = places_[3];
  const auto is_under_way = [](const Place& place) { return place.flight->step() > 0; };
  // The sums of the oldest batch's gradients travel while the other batches compute.
  const MatrixView sums(parameters_.gradients().data(), 1, oldest.gradients.cols());
  axpby(ctx_, 1, oldest.gradients, 0, sums);
  for (int l = int(whole_model_.layers.size()) - 1; l > oldest.flight->whole_layer_number(); --l)
    session.layer_done(l);
  stash(newest);
  fill(ctx_, 0, newest.gradients);
  if (begin(newest, step + kDelay)) newest.flight->forward_columns(version_of(newest));
  if (is_under_way(newer)) newer.flight->forward_own(version_of(newer));
  if (is_under_way(older)) {
    take_loss(older, session, true);
    older.flight->backward_own(version_of(older), nullptr);
  }
  WeightVersion last = version_of(oldest);
  last.gradients = parameters_.gradients().data();
  oldest.flight->backward_columns(last, &session);
  oldest.flight->end();
  update(session);
  under_way_.at(0, 0) = 1;
  under_way_.at(0, 1) = Real(is_under_way(older) + is_under_way(newer));
  std::rotate(places_.begin(), places_.begin() + 1, places_.end());
}

ConstMatrixView PushPull::infer() {
  if (whole_weights_) whole_weights_->refresh(ctx_);
  return inference_.infer();
}

void PushPull::count_non_finite(const double* unless, double* by_layer) {
  at_loss_->count_non_finite(unless, by_layer);
}

std::vector<NamedMatrix> PushPull::state() {
  std::vector<NamedMatrix> state;
  if (options_.delay == 0 || places_.empty()) return state;
  state.push_back({"under_way", under_way_.view()});
  for (int i = 0; i < kDelay; ++i)
    state.push_back({fmt::format("weights_{}", i), places_[std::size_t(i)].weights.view(), ctx_.device});
  if (options_.predicts) state.push_back({"last_move", last_move_.view(), ctx_.device});
  return state;
}

std::int64_t PushPull::reallocations() const {
  std::int64_t sum = ctx_.workspace->reallocations();
  for (const Place& each : places_) sum += each.flight->reallocations();
  return sum;
}

void PushPull::enter(Work work) const {
  if (trace_ != nullptr) trace_->enter(work, -1);
}

ScheduleBytes PushPull::bytes() const {
  ScheduleBytes b;
  for (const Place& each : places_) {
    each.flight->count(b);
    b.saved += each.weights.held_bytes() + each.gradients.held_bytes();
  }
  b.saved += last_move_.held_bytes();
  if (whole_weights_) b.halo += whole_weights_->bytes();
  inference_.count(b);
  return b;
}

}  // namespace atl
