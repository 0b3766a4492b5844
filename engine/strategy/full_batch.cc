#include "strategy/full_batch.h"

namespace atl {

FullBatch::FullBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                     const GraphPart& part, double all_vertices, const FullBatchOptions& options,
                     MakeExchange make_exchange)
    : ctx_(ctx),
      trace_(comm.trace()),
      model_(model),
      parameters_(parameters),
      part_(part),
      passes_(options.passes),
      prefix_(model.constant_prefix()),
      runner_(ctx, model, comm.trace()) {
  exchange_ = make_exchange(exchanged_layers());
  pass_ = std::make_unique<FullBatchPass>(ctx, comm, RankGroup(comm, {}), part, *exchange_, options.seed,
                                          all_vertices);
  compute_prefix();
  memory_ = std::make_unique<PassMemory>(ctx_.device, model, LayerRange{prefix_, layers()}, passes_);
  const Index owned = part.graph->owned;
  memory_->shape(std::vector<LayerRows>(std::size_t(layers() - prefix_),
                                        LayerRows{owned, owned, owned, exchange_->source_rows()}));
}

std::vector<ExchangedLayer> FullBatch::exchanged_layers() const {
  std::vector<ExchangedLayer> all;
  for (int l = 0; l < layers(); ++l) {
    const bool keep = layer(l).rows_in_backward() && passes_ == Passes::kTraining;
    all.push_back({.cols = layer(l).in(),
                   .gathers = layer(l).gathers(),
                   .fixed = l == 0,
                   .once = l < prefix_,
                   .keep = keep});
  }
  return all;
}

/// The leading constant layers, each from the one before; only the last one's output is kept.
void FullBatch::compute_prefix() {
  pass_->prepare();
  Matrix before;
  Saved none;
  for (int l = 0; l < prefix_; ++l) {
    Matrix out(part_.graph->owned, layer(l).out(), ctx_.device);
    const Rows in = l == 0 ? part_.features : Rows(std::as_const(before).view());
    pass_->bind(l);
    layer(l).forward(*pass_, {parameters_.present(), l}, {in, in, {}}, none, out);
    before = std::move(out);
  }
  prefix_output_ = std::move(before);
}

/// The features, or what was computed of them once.
RangeInput FullBatch::input() const {
  return {prefix_ == 0 ? part_.features : Rows(ConstMatrixView(prefix_output_)), {}};
}

void FullBatch::tell(Work work) const {
  if (trace_ != nullptr) trace_->enter(work, -1);
}

void FullBatch::train(std::int64_t step, TrainingStep& session) {
  if (trace_ != nullptr) trace_->begin_epoch(step);
  const ConstMatrixView logits = forward(step, true);
  tell(Work::kLoss);
  session.loss(logits, {}, memory_->d_output());
  // The gradients are this rank's share: their sum over ranks is the whole. Features take none.
  runner_.backward(*pass_, parameters_.present(), *memory_, input(), {}, &session);
  tell(Work::kUpdate);
  session.update();
  tell(Work::kNone);
}

ConstMatrixView FullBatch::infer() {
  const ConstMatrixView logits = forward(0, false);
  tell(Work::kNone);
  return logits;
}

MatrixView FullBatch::forward(std::int64_t step, bool training) {
  ATOLL_CHECK(!training || passes_ != Passes::kInference, "this schedule was made for inference");
  pass_->begin(step, training);
  exchange_->begin(step, training);
  runner_.forward(*pass_, parameters_.present(), *memory_, input());
  return memory_->output(layers() - 1);
}

ConstMatrixView FullBatch::embeddings() const {
  const LayerInput last = runner_.input_of(layers() - 1, *memory_, input());
  return last.rows.packed() ? ConstMatrixView() : last.rows.dense;
}

void FullBatch::count_non_finite(const double* unless, double* by_layer) {
  for (int l = prefix_; l < layers(); ++l)
    atl::count_non_finite(ctx_, memory_->output(l), by_layer + l, unless);
}

ScheduleBytes FullBatch::bytes() const {
  ScheduleBytes b;
  b.activations = prefix_output_.held_bytes();
  memory_->count(b);
  b.halo = exchange_->bytes();
  return b;
}

}  // namespace atl
