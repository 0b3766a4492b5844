#include "strategy/full_batch.h"

#include <algorithm>
#include <map>

namespace atl {

/// The verbs of a full-batch pass: gather goes to the exchange, sync is the identity, reduce sums over all ranks.
class FullBatch::Pass final : public Verbs {
 public:
  explicit Pass(FullBatch& schedule) : s_(schedule) {}

  Context& context() override { return s_.ctx_; }
  Index destinations() const override { return s_.part_.graph->owned; }
  std::span<const VertexId> destination_ids() const override {
    return std::span(s_.part_.graph->ids).first(std::size_t(s_.part_.graph->owned));
  }
  bool training() const override { return training_; }
  bool repeating() const override { return purpose_ == Traffic::kRecompute; }
  Draws draws(Purpose purpose, int layer) const override {
    return Draws(s_.options_.seed, purpose, std::uint64_t(step_), std::uint64_t(layer));
  }
  void gather(const Rows& rows, VisitSource visit) override {
    s_.exchange_->forward({layer_, rows, purpose_}, visit);
  }
  void gather_backward(const Rows& rows, VisitSourceBackward visit, MatrixView d_rows) override {
    s_.exchange_->backward({layer_, rows, purpose_}, visit, d_rows);
  }
  MatrixView sync(MatrixView partial) override { return partial; }
  void reduce(std::span<double> values) override { s_.comm_.all_reduce(Traffic::kStatistics, values); }
  double reduced_rows() const override { return s_.all_vertices_; }

  void begin(std::int64_t step, bool training) {
    step_ = step;
    training_ = training;
    purpose_ = training ? Traffic::kHalo : Traffic::kEvaluation;
  }
  void bind(int layer) { layer_ = layer; }
  void prepare() { begin(0, false), purpose_ = Traffic::kSetup; }
  void repeat(bool on) { purpose_ = on ? Traffic::kRecompute : Traffic::kHalo; }

 private:
  FullBatch& s_;
  std::int64_t step_ = 0;
  bool training_ = false;
  Traffic purpose_ = Traffic::kHalo;
  int layer_ = 0;
};

FullBatch::FullBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                     const GraphPart& part, double all_vertices, const FullBatchOptions& options,
                     MakeExchange make_exchange)
    : ctx_(ctx),
      comm_(comm),
      model_(model),
      parameters_(parameters),
      part_(part),
      all_vertices_(all_vertices),
      options_(options),
      prefix_(model.constant_prefix()),
      pass_(std::make_unique<Pass>(*this)) {
  exchange_ = make_exchange(exchanged_layers());
  compute_prefix();
  allocate();
}

FullBatch::~FullBatch() = default;

std::vector<ExchangedLayer> FullBatch::exchanged_layers() const {
  std::vector<ExchangedLayer> all;
  for (std::size_t l = 0; l < model_.layers.size(); ++l) {
    const Layer& layer = *model_.layers[l];
    const bool keep = layer.rows_in_backward() && !options_.recompute && !options_.inference_only;
    all.push_back({layer.in(), layer.gathers(), l == 0, keep});
  }
  return all;
}

/// The leading constant layers, each from the one before; only the last one's output is kept.
void FullBatch::compute_prefix() {
  pass_->prepare();
  Matrix before;
  Saved none;
  for (int l = 0; l < prefix_; ++l) {
    const Layer& layer = *model_.layers[std::size_t(l)];
    Matrix out(part_.graph->owned, layer.out());
    const Rows in = l == 0 ? part_.features : Rows(std::as_const(before).view());
    pass_->bind(l);
    layer.forward(*pass_, weights_of(l), {in, in, {}}, none, out);
    before = std::move(out);
  }
  prefix_output_ = std::move(before);
}

void FullBatch::allocate() {
  const Index owned = part_.graph->owned;
  const int layers = int(model_.layers.size());
  for (const auto& layer : model_.layers) {
    if (layer->tap() >= 0) tapped_ = layer->tap();
  }
  std::map<std::string, Matrix*> turns;  // inference: even and odd layers share
  for (int l = 0; l < layers; ++l) {
    const Layer& layer = *model_.layers[std::size_t(l)];
    const bool private_output = !options_.inference_only || l == tapped_ || l + 1 == layers;
    Matrix*& output = turns[private_output ? fmt::format("layer {}", l) : fmt::format("turn {}", l % 2)];
    if (output == nullptr) output = buffers_.emplace_back(std::make_unique<Matrix>()).get();
    if (l >= prefix_) output->resize(owned, std::max(output->cols(), layer.out()));
    outputs_.push_back(output);
  }
  allocate_saved();
  if (options_.inference_only) return;
  d_logits_.resize(owned, model_.layers.back()->out());
  for (int l = layers - 1; l > prefix_; --l) {
    const Index turn = gradient_turn(l), in = model_.layers[std::size_t(l)]->in();
    d_rows_[turn].resize(owned, std::max(d_rows_[turn].cols(), in));
  }
  if (tapped_ >= 0) d_tap_.resize(owned, model_.layers[std::size_t(tapped_)]->out());
}

/// What a layer saves is alive from its forward to its backward. Where backward repeats the forward just before, or
/// never comes, that is one layer at a time: all share the memory of the largest.
void FullBatch::allocate_saved() {
  const Index owned = part_.graph->owned;
  const std::vector<Index> source_rows = exchange_->source_rows();
  const bool one_at_a_time = options_.recompute || options_.inference_only;
  saved_.resize(model_.layers.size());
  saved_memory_.resize(one_at_a_time ? 1 : saved_.size());
  for (std::size_t l = 0; l < saved_.size(); ++l) {
    Matrix& memory = saved_memory_[one_at_a_time ? 0 : l];
    const Index elements = Saved::elements(model_.layers[l]->saved(), owned, source_rows);
    memory.resize(1, std::max(memory.cols(), elements));
  }
  for (std::size_t l = 0; l < saved_.size(); ++l) {
    saved_[l].place(model_.layers[l]->saved(), owned, source_rows,
                    saved_memory_[one_at_a_time ? 0 : l].data());
  }
}

/// Rows of layer l's input: the features, the precomputed prefix, or the layer before's output.
LayerInput FullBatch::input_of(int l) const {
  LayerInput input;
  const Index owned = part_.graph->owned;
  if (l == 0) {
    input.rows = part_.features;
  } else if (l == prefix_) {
    input.rows = ConstMatrixView(prefix_output_);
  } else {
    input.rows =
        ConstMatrixView(outputs_[std::size_t(l - 1)]->data(), owned, model_.layers[std::size_t(l)]->in());
  }
  input.self = input.rows;
  const int tap = model_.layers[std::size_t(l)]->tap();
  if (tap >= 0) {
    input.tap =
        ConstMatrixView(outputs_[std::size_t(tap)]->data(), owned, model_.layers[std::size_t(tap)]->out());
  }
  return input;
}

void FullBatch::forward_layer(int l) {
  const Layer& layer = *model_.layers[std::size_t(l)];
  MatrixView out(outputs_[std::size_t(l)]->data(), part_.graph->owned, layer.out());
  pass_->bind(l);
  layer.forward(*pass_, weights_of(l), input_of(l), saved_[std::size_t(l)], out);
}

void FullBatch::train_epoch(std::int64_t epoch, TrainingStep& step) {
  const ConstMatrixView logits = forward(epoch, true);
  step.loss(logits, {}, d_logits_);
  backward(d_logits_);
  step.update();
}

ConstMatrixView FullBatch::infer() {
  return forward(0, false);
}

MatrixView FullBatch::forward(std::int64_t step, bool training) {
  ATOLL_CHECK(!training || !options_.inference_only, "this schedule was made for inference");
  pass_->begin(step, training);
  const int layers = int(model_.layers.size());
  for (int l = prefix_; l < layers; ++l) forward_layer(l);
  return {outputs_.back()->data(), part_.graph->owned, model_.layers.back()->out()};
}

/// Which of the two gradient buffers takes the gradient of layer l's input: the other one than its output's, unless
/// the layer works in place.
int FullBatch::gradient_turn(int layer) const {
  int turn = 0;
  for (int l = int(model_.layers.size()) - 2; l >= layer; --l)
    turn ^= model_.layers[std::size_t(l)]->in_place_backward() ? 0 : 1;
  return turn;
}

void FullBatch::backward(MatrixView d_logits) {
  if (tapped_ >= 0) fill(ctx_, 0, d_tap_);
  MatrixView d_out = d_logits;
  for (int l = int(model_.layers.size()) - 1; l >= prefix_; --l) {
    const bool input_is_fixed = l == prefix_;
    MatrixView d_in;
    if (!input_is_fixed) {
      d_in = MatrixView(d_rows_[gradient_turn(l)].data(), part_.graph->owned,
                        model_.layers[std::size_t(l)]->in());
    }
    if (l == tapped_) axpby(ctx_, 1, d_tap_, 1, d_out);
    backward_layer(l, d_out, d_in);
    d_out = d_in;
  }
}

void FullBatch::backward_layer(int l, MatrixView d_out, MatrixView d_in) {
  const Layer& layer = *model_.layers[std::size_t(l)];
  if (options_.recompute && l + 1 < int(model_.layers.size())) {  // the last layer's are still there
    pass_->repeat(true);
    forward_layer(l);
    pass_->repeat(false);
  }
  pass_->bind(l);
  const MatrixView out(outputs_[std::size_t(l)]->data(), part_.graph->owned, layer.out());
  const MatrixView d_tap = layer.tap() >= 0 ? d_tap_.view() : MatrixView();
  layer.backward(*pass_, weights_of(l), input_of(l), saved_[std::size_t(l)], out, d_out, {d_in, d_in, d_tap});
}

ConstMatrixView FullBatch::embeddings() const {
  const LayerInput last = input_of(int(model_.layers.size()) - 1);
  return last.rows.is_sparse() ? ConstMatrixView() : last.rows.dense;
}

int FullBatch::first_non_finite_layer() {
  for (int l = prefix_; l < int(model_.layers.size()); ++l) {
    const ConstMatrixView out(outputs_[std::size_t(l)]->data(), part_.graph->owned,
                              model_.layers[std::size_t(l)]->out());
    if (count_non_finite(ctx_, out) > 0) return l;
  }
  return -1;
}

ScheduleBytes FullBatch::bytes() const {
  ScheduleBytes b;
  b.activations = prefix_output_.held_bytes();
  for (const auto& output : buffers_) b.activations += output->held_bytes();
  for (const Matrix& memory : saved_memory_) b.saved += memory.held_bytes();
  b.gradients =
      d_rows_[0].held_bytes() + d_rows_[1].held_bytes() + d_tap_.held_bytes() + d_logits_.held_bytes();
  b.halo = exchange_->bytes();
  return b;
}

}  // namespace atl
