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
      prefix_(model.constant_prefix()) {
  exchange_ = make_exchange(exchanged_layers());
  pass_ = std::make_unique<FullBatchPass>(ctx, comm, *part.graph, *exchange_, options.seed, all_vertices);
  compute_prefix();
  memory_ = std::make_unique<Activations>(ctx_.device, model, prefix_, part.graph->owned,
                                          exchange_->source_rows(), passes_);
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
    layer(l).forward(*pass_, weights_of(l), {in, in, {}}, none, out);
    before = std::move(out);
  }
  prefix_output_ = std::move(before);
}

/// Rows of layer l's input: the features, the precomputed prefix, or the layer before's output.
LayerInput FullBatch::input_of(int l) const {
  LayerInput input;
  if (l == 0) {
    input.rows = part_.features;
  } else if (l == prefix_) {
    input.rows = ConstMatrixView(prefix_output_);
  } else {
    input.rows = ConstMatrixView(memory_->output(l - 1));
  }
  input.self = input.rows;
  if (layer(l).tap() >= 0) input.tap = memory_->output(layer(l).tap());
  return input;
}

void FullBatch::tell(Work work, int l) const {
  if (trace_ != nullptr) trace_->enter(work, l);
}

void FullBatch::forward_layer(int l) {
  tell(pass_->repeating() ? Work::kRecompute : pass_->training() ? Work::kForward : Work::kEvaluation, l);
  pass_->bind(l);
  layer(l).forward(*pass_, weights_of(l), input_of(l), memory_->saved(l), memory_->output(l));
}

void FullBatch::train_epoch(std::int64_t epoch, TrainingStep& step) {
  if (trace_ != nullptr) trace_->begin_epoch(epoch);
  const ConstMatrixView logits = forward(epoch, true);
  tell(Work::kLoss);
  step.loss(logits, {}, memory_->d_logits());
  backward(memory_->d_logits(), &step);
  tell(Work::kUpdate);
  step.update();
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
  for (int l = prefix_; l < layers(); ++l) forward_layer(l);
  return memory_->output(layers() - 1);
}

/// The first layer's input is fixed and takes no gradient.
void FullBatch::backward(MatrixView d_logits, TrainingStep* step) {
  const int tapped = memory_->tapped();
  if (tapped >= 0) fill(ctx_, 0, memory_->d_tap());
  MatrixView d_out = d_logits;
  for (int l = layers() - 1; l >= prefix_; --l) {
    const MatrixView d_in = l > prefix_ ? memory_->d_input(l) : MatrixView();
    if (l == tapped) axpby(ctx_, 1, memory_->d_tap(), 1, d_out);
    backward_layer(l, d_out, d_in, step);
    if (step != nullptr) step->layer_done(l);
    d_out = d_in;
  }
}

void FullBatch::backward_layer(int l, MatrixView d_out, MatrixView d_in, TrainingStep* step) {
  if (passes_ == Passes::kRecomputing && l + 1 < layers()) {  // the last layer's are still there
    pass_->repeat(true);
    forward_layer(l);
    pass_->repeat(false);
  }
  pass_->bind(l);
  tell(Work::kBackward, l);
  const MatrixView d_tap = layer(l).tap() >= 0 ? memory_->d_tap() : MatrixView();
  auto part_done = [&](int part) { step->part_done(l, part); };
  const FunctionRef<void(int)> tell_step(part_done);
  LayerWeights weights = weights_of(l);
  if (step != nullptr) weights.part_done = &tell_step;
  layer(l).backward(*pass_, weights, input_of(l), memory_->saved(l), memory_->output(l), d_out,
                    {d_in, d_in, d_tap});
}

ConstMatrixView FullBatch::embeddings() const {
  const LayerInput last = input_of(layers() - 1);
  return last.rows.packed() ? ConstMatrixView() : last.rows.dense;
}

int FullBatch::first_non_finite_layer() {
  for (int l = prefix_; l < layers(); ++l) {
    if (count_non_finite(ctx_, memory_->output(l)) > 0) return l;
  }
  return -1;
}

ScheduleBytes FullBatch::bytes() const {
  ScheduleBytes b;
  b.activations = prefix_output_.held_bytes();
  memory_->count(b);
  b.halo = exchange_->bytes();
  return b;
}

}  // namespace atl
