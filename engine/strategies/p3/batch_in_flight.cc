#include "strategies/p3/batch_in_flight.h"

#include "model/finished_layer.h"

namespace atl {
namespace {

int whole_layer_of(const Model& model) {
  return model.constant_prefix();
}

const ColumnLayer* column_layer_of(const Model& model, const ColumnShare& share) {
  if (!share.is_split()) return nullptr;
  const Layer& layer = *model.layers[std::size_t(whole_layer_of(model))];
  ATOLL_CHECK(layer.by_columns() != nullptr,
              "{} can't have its input's columns split: make it a FinishedLayer (model/finished_layer.h)",
              layer.spec().name);
  return layer.by_columns();
}

}  // namespace

/// The layer whose product is made whole keeps what it saves, so that it is never repeated: its summands
/// travel once.
BatchInFlight::BatchInFlight(Context& ctx, Communicator& comm, const Model& model, const LayerRunner& runner,
                             const ColumnShare& share, const BatchInFlightOptions& options)
    : ctx_(ctx),
      comm_(comm),
      model_(model),
      runner_(runner),
      trace_(comm.trace()),
      weighs_(options.weighs),
      by_columns_(column_layer_of(model, share)),
      pass_(ctx, comm, model, share,
            {.end = int(model.layers.size()), .seed = options.seed, .wire = options.wire}),
      features_(ctx),
      constant_(ctx.device, model, {0, whole_layer_of(model)}, Passes::kInference, true),
      whole_(ctx.device, model, {whole_layer_of(model), whole_layer_of(model) + 1}, Passes::kTraining, true),
      rest_(ctx.device, model, {whole_layer_of(model) + 1, int(model.layers.size())}, options.passes, true) {}

void BatchInFlight::begin(const StreamedBatch& made, std::int64_t step) {
  made_ = &made;
  step_ = step;
  pass_.begin(made.batch, made.group, step);
  if (weighs_) pass_.share(comm_, made.shares);
  if (split().whole > 0) shape(constant_, constant_rows_);
  shape(whole_, whole_rows_);
  if (has_rest()) shape(rest_, rest_rows_);
  features_.restart();
  input_ = features_.of(made.features.rows());
  self_ = features_.of(made.features.self());
}

/// `rows` keeps its memory from batch to batch.
void BatchInFlight::shape(PassMemory& memory, std::vector<LayerRows>& rows) {
  const auto all = pass_.rows().begin();
  rows.assign(all + memory.layers().first, all + memory.layers().end);
  memory.shape(rows);
}

void BatchInFlight::enter(Work work) const {
  if (trace_ != nullptr) trace_->enter(work, split().whole);
}

LayerInput BatchInFlight::whole_input() {
  const int l = split().whole;
  LayerInput in;
  in.rows = l == 0 ? input_ : Rows(ConstMatrixView(constant_.output(l - 1)));
  in.self =
      in.rows.packed() ? self_ : Rows(in.rows.dense.slice_rows(0, pass_.rows()[std::size_t(l)].destinations));
  return in;
}

RangeInput BatchInFlight::rest_input() {
  RangeInput in{Rows(ConstMatrixView(whole_.output(split().whole))), {}};
  if (is_tapped()) in.tap = whole_.output(split().whole);
  return in;
}

void BatchInFlight::forward_columns(const WeightVersion& weights) {
  const int l = split().whole;
  if (l > 0) runner_.forward(pass_, weights, constant_, {input_, {}, self_});
  if (by_columns_ == nullptr) return;
  enter(Work::kForward);
  pass_.bind(l);
  by_columns_->forward_columns(pass_, {weights, l}, whole_input(), whole_.saved(l));
}

/// On any number of ranks, norms are computed in this phase, so that running statistics follow its order.
void BatchInFlight::forward_own(const WeightVersion& weights) {
  const int l = split().whole;
  enter(Work::kForward);
  pass_.bind(l);
  if (by_columns_ != nullptr)
    by_columns_->forward_whole(pass_, {weights, l}, whole_.saved(l), whole_.output(l));
  else
    whole_layer().forward(pass_, {weights, l}, whole_input(), whole_.saved(l), whole_.output(l));
  if (has_rest()) runner_.forward(pass_, weights, rest_, rest_input());
}

void BatchInFlight::backward_own(const WeightVersion& weights, TrainingStep* session) {
  const int l = split().whole;
  if (has_rest()) {
    RangeGradient gradient{.rows = whole_.d_output(), .tap = {}, .tapped = {}};
    if (is_tapped()) {
      gradient.tap = whole_.d_tap();
      fill(ctx_, 0, gradient.tap);
    }
    runner_.backward(pass_, weights, rest_, rest_input(), gradient, session);
    if (is_tapped()) axpby(ctx_, 1, gradient.tap, 1, whole_.d_output());
  }
  if (by_columns_ == nullptr) return;
  enter(Work::kBackward);
  pass_.bind(l);
  by_columns_->backward_whole(pass_, {weights, l}, whole_.saved(l), whole_.output(l), whole_.d_output());
}

void BatchInFlight::backward_columns(const WeightVersion& weights, TrainingStep* session) {
  const int l = split().whole;
  enter(Work::kBackward);
  pass_.bind(l);
  if (by_columns_ != nullptr) {
    by_columns_->backward_columns(pass_, {weights, l}, whole_input(), whole_.saved(l), {});
  } else {
    const auto part_done = [&](int part) {
      if (session != nullptr) session->part_done(l, part);
    };
    const FunctionRef<void(int)> on_part_done(part_done);
    whole_layer().backward(pass_, {weights, l, &on_part_done}, whole_input(), whole_.saved(l),
                           whole_.output(l), whole_.d_output(), {});
  }
  if (session != nullptr) session->layer_done(l);
}

void BatchInFlight::count_non_finite(const double* unless, double* by_layer) {
  const int l = split().whole;
  atl::count_non_finite(ctx_, whole_.output(l), by_layer + l, unless);
  for (int r = l + 1; r < layers(); ++r) atl::count_non_finite(ctx_, rest_.output(r), by_layer + r, unless);
}

std::int64_t BatchInFlight::reallocations() const {
  return pass_.reallocations() + constant_.reallocations() + whole_.reallocations() + rest_.reallocations();
}

void BatchInFlight::count(ScheduleBytes& bytes) const {
  for (const PassMemory* each : {&constant_, &whole_, &rest_}) each->count(bytes);
  bytes.halo += pass_.bytes();
}

}  // namespace atl
