#include "strategies/schedule/full_batch.h"

#include <algorithm>

namespace atl {

FullBatch::FullBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                     const GraphPart& part, double all_vertices, const FullBatchOptions& options,
                     MakeExchange make_exchange)
    : ctx_(ctx),
      comm_(comm),
      trace_(comm.trace()),
      model_(model),
      parameters_(parameters),
      part_(&part),
      options_(options),
      prefix_(model.constant_prefix()),
      runner_(ctx, model, comm.trace()),
      memory_(ctx.device, model, LayerRange{prefix_, layers()}, options.passes) {
  begin_part(all_vertices, make_exchange);
}

void FullBatch::take(const GraphPart& part, double all_vertices) {
  ATOLL_CHECK(options_.exchange_of != nullptr, "a schedule of one part was given another");
  pass_.reset(), exchange_.reset();
  part_ = &part;
  begin_part(all_vertices, [&](std::vector<ExchangedLayer> layers) {
    return options_.exchange_of(*part_, std::move(layers));
  });
}

void FullBatch::begin_part(double all_vertices, MakeExchange make_exchange) {
  const std::vector<ExchangedLayer> exchanged = exchanged_layers();
  outputs_.clear();
  for (const ExchangedLayer& each : exchanged) outputs_.push_back(part_->rows(each.hops_left));
  exchange_ = make_exchange(exchanged);
  pass_ = std::make_unique<FullBatchPass>(ctx_, comm_, RankGroup(comm_, {}), *part_, *exchange_, outputs_,
                                          options_.seed, all_vertices);
  compute_prefix();
  memory_.shape(layer_rows());
}

/// The row counts of all layers behind the constant ones. Each layer reads the output of the one before.
std::vector<LayerRows> FullBatch::layer_rows() const {
  std::vector<LayerRows> rows;
  for (int l = prefix_; l < layers(); ++l) {
    const Index in = l == 0 ? part_->graph->owned : outputs_[std::size_t(l) - 1],
                out = outputs_[std::size_t(l)];
    rows.push_back({in, out, out, layer(l).spec().gathers ? exchange_->source_rows(l) : std::vector{in},
                    options_.passes == Passes::kInference ? 0 : std::min(part_->boundary, out)});
  }
  return rows;
}

std::vector<ExchangedLayer> FullBatch::exchanged_layers() const {
  std::vector<ExchangedLayer> all;
  int hops_left =
      int(std::ranges::count_if(model_.layers, [](const auto& each) { return each->spec().gathers; }));
  for (int l = 0; l < layers(); ++l) {
    if (layer(l).spec().gathers) --hops_left;
    const bool keep = layer(l).spec().rows_in_backward && options_.passes == Passes::kTraining;
    all.push_back({.cols = layer(l).spec().gathered_columns(),
                   .gathers = layer(l).spec().gathers,
                   .fixed = l == 0,
                   .once = l < prefix_,
                   .keep = keep,
                   .hops_left = hops_left});
  }
  return all;
}

void compute_constant(const Model& model, Parameters& parameters, FullBatchPass& pass, const Rows& features,
                      std::span<const Index> outputs, MatrixView last) {
  pass.prepare();
  const Context& ctx = pass.context();
  const int in_place = first_in_place(model, {0, model.constant_prefix()});
  Matrix before;
  MatrixView held;
  Saved none;
  for (int l = 0; l < model.constant_prefix(); ++l) {
    const Index rows = outputs[std::size_t(l)], cols = model.spec(l).out;
    Matrix memory;
    if (l < in_place) memory.resize(1, reals_of(rows * cols, last.storage()), ctx.device);
    const MatrixView out = l < in_place ? MatrixView(memory.data(), rows, cols, last.storage())
                                        : last.slice_rows(0, rows).slice_cols(0, cols);
    const Rows in = l == 0 ? features : Rows(held);
    const Rows self = in.packed() || in.rows() == rows ? in : Rows(in.dense.slice_rows(0, rows));
    pass.bind(l);
    model.layers[std::size_t(l)]->forward(pass, {parameters.present(), l}, {in, self, {}}, none, out);
    before = std::move(memory), held = out;
  }
}

/// Computes the constant layers. Those that work in place share the memory of the first of them, which
/// computes the most rows: where some rows are copies, each layer computes fewer than the one before.
void FullBatch::compute_prefix() {
  if (prefix_ == 0) return pass_->prepare();
  const Index rows = outputs_[std::size_t(first_in_place(model_, {0, prefix_}))],
              cols = layer(prefix_ - 1).spec().out;
  prefix_memory_ = Matrix(1, reals_of(rows * cols, model_.values), ctx_.device);
  const MatrixView whole(prefix_memory_.data(), rows, cols, model_.values);
  compute_constant(model_, parameters_, *pass_, part_->features, outputs_, whole);
  prefix_output_ = whole.slice_rows(0, outputs_[std::size_t(prefix_) - 1]);
}

/// The features, or what the constant layers computed from them.
RangeInput FullBatch::input() const {
  if (prefix_ > 0) return {Rows(prefix_output_), {}};
  return {part_->features, {}, part_->computed_features};
}

void FullBatch::enter(Work work) const {
  if (trace_ != nullptr) trace_->enter(work, -1);
}

void FullBatch::train(std::int64_t step, TrainingStep& session) {
  if (trace_ != nullptr && (step - 1) % options_.steps == 0)
    trace_->begin_epoch((step - 1) / options_.steps + 1);
  const ConstMatrixView logits = forward(step, true);
  enter(Work::kLoss);
  session.loss(logits, {}, memory_.d_output());
  // These gradients are this rank's share; their sum over ranks is the whole. Features take no gradient.
  runner_.backward(*pass_, parameters_.present(), memory_, input(), {}, &session);
  enter(Work::kUpdate);
  session.update();
  enter(Work::kNone);
}

ConstMatrixView FullBatch::infer() {
  const ConstMatrixView logits = forward(0, false);
  enter(Work::kNone);
  return logits;
}

MatrixView FullBatch::forward(std::int64_t step, bool training) {
  ATOLL_CHECK(!training || options_.passes != Passes::kInference, "this schedule was made for inference");
  pass_->begin(step, training);
  exchange_->begin(step, training);
  runner_.forward(*pass_, parameters_.present(), memory_, input());
  return memory_.output(layers() - 1);
}

ConstMatrixView FullBatch::embeddings() const {
  const LayerInput last = runner_.input_of(layers() - 1, memory_, input());
  return last.rows.packed() ? ConstMatrixView() : last.rows.dense;
}

void FullBatch::count_non_finite(const double* unless, double* by_layer) {
  for (int l = prefix_; l < layers(); ++l)
    atl::count_non_finite(ctx_, memory_.output(l), by_layer + l, unless);
}

ScheduleBytes FullBatch::bytes() const {
  ScheduleBytes b;
  b.activations = prefix_memory_.held_bytes();
  memory_.count(b);
  b.halo = exchange_->bytes();
  return b;
}

}  // namespace atl
