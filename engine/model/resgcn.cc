// ResGCN+ (Li et al. 2020, "DeeperGCN"): a linear encoder, then pre-norm residual blocks
//   h ← h + conv(dropout(ReLU(norm(h)))), the first convolution bare, and norm, ReLU, dropout, linear at the end.
// conv is SAGE-mean (GraNNDis' variant) or softmax aggregation of ReLU(r) + 1e-7 (GENConv, DeeperGCN's own).
#include "model/row_start.h"
#include "model/stack.h"
#include "model/transform.h"

namespace atl {
namespace {

constexpr Real kMessageEpsilon = Real(1e-7);
const Epilogue kRelu{.activation = Activation::kRelu};

/// The first parameter is the weight: mean (2·hidden, hidden), self on top; softmax (hidden, hidden). Then the bias,
/// then row_start's.
class ResidualBlock : public Layer {
 public:
  ResidualBlock(Index hidden, RowStart start) : hidden_(hidden), start_(start) {}
  Index in() const final { return hidden_; }
  Index out() const final { return hidden_; }
  bool gathers() const final { return true; }
  bool rows_in_backward() const final { return true; }

 protected:
  std::vector<ParameterSpec> declare(Index weight_rows) const {
    std::vector<ParameterSpec> all{
        {"weight", weight_rows, hidden_, Init::kGlorot, DecayGroup::kConvolution, hidden_, hidden_},
        {"bias", 1, hidden_, Init::kZero, DecayGroup::kConvolution}};
    start_.declare(all);
    return all;
  }
  Index hidden_;
  RowStart start_;
};

class MeanBlock final : public ResidualBlock {
 public:
  using ResidualBlock::ResidualBlock;
  std::string describe() const override { return fmt::format("resgcn mean {} → {}", hidden_, hidden_); }
  std::vector<ParameterSpec> parameters() const override { return declare(2 * hidden_); }
  std::vector<SavedSpec> saved() const override {
    std::vector<SavedSpec> all{{"aggregated", SavedSpec::Over::kDestinations, hidden_}};
    start_.declare(all);
    return all;
  }
  LayerCost cost() const override { return {4.0 * double(hidden_) * double(hidden_), hidden_, hidden_}; }

  void forward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
               MatrixView out) const override {
    Context& ctx = verbs.context();
    MatrixView aggregated = saved.at(0);
    start_.prepare(verbs, w, input.self.dense, saved);
    verbs.gather(input.rows, [&](const Source& s) {
      ConstMatrixView r = start_.forward(verbs, w, saved, s.rows.dense, s.block->src_ids, "resgcn.rows");
      spmm(ctx, arcs_of(*s.block), r, aggregated, !s.first);
    });
    ConstMatrixView self =
        start_.forward(verbs, w, saved, input.self.dense, verbs.destination_ids(), "resgcn.rows");
    gemm(ctx, self, w.value(0).slice_rows(0, hidden_), out);
    Epilogue residual;
    residual.bias = w.value(1).data;
    residual.residual = input.self.dense;
    gemm(ctx, aggregated, w.value(0).slice_rows(hidden_, hidden_), out, true, residual);
  }

  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView out,
                MatrixView d_out, const LayerGradient& gradient) const override {
    Context& ctx = verbs.context();
    sum_rows(ctx, d_out, w.gradient(1).data, true);
    gemm_at(ctx, saved.at(0), d_out, w.gradient(0).slice_rows(hidden_, hidden_), true);
    const MatrixView d_aggregated = out;  // of the same shape, and nobody reads it any more
    gemm_bt(ctx, d_out, w.value(0).slice_rows(hidden_, hidden_), d_aggregated);
    RowStart::Sums sums = start_.begin_backward();
    verbs.gather_backward(
        input.rows,
        [&](const Source& s, MatrixView d_rows) {
          if (d_rows.cols == 0) return;
          spmm(ctx, transposed_arcs_of(*s.block), d_aggregated, d_rows);
          start_.backward(verbs, w, saved, s.rows.dense, s.block->src_ids, d_rows, sums);
        },
        gradient.rows);

    ConstMatrixView self =
        start_.forward(verbs, w, saved, input.self.dense, verbs.destination_ids(), "resgcn.rows");
    gemm_at(ctx, self, d_out, w.gradient(0).slice_rows(0, hidden_), true);
    MatrixView d_self = ctx.workspace->matrix("resgcn.d_self", d_out.rows, hidden_);
    gemm_bt(ctx, d_out, w.value(0).slice_rows(0, hidden_), d_self);
    start_.backward(verbs, w, saved, input.self.dense, verbs.destination_ids(), d_self, sums);
    axpby(ctx, 1, d_self, 1, gradient.self);
    start_.end_backward(verbs, w, saved, input.self.dense, sums, gradient.self);
    axpby(ctx, 1, d_out, 1, gradient.self);  // the residual
  }
};

class SoftmaxBlock final : public ResidualBlock {
 public:
  SoftmaxBlock(Index hidden, RowStart start, Real temperature)
      : ResidualBlock(hidden, start), temperature_(temperature) {}
  std::string describe() const override { return fmt::format("resgcn softmax {} → {}", hidden_, hidden_); }
  std::vector<ParameterSpec> parameters() const override { return declare(hidden_); }
  std::vector<SavedSpec> saved() const override {
    using Over = SavedSpec::Over;
    std::vector<SavedSpec> all{{"max", Over::kDestinations, hidden_},
                               {"sum", Over::kDestinations, hidden_},
                               {"aggregated", Over::kDestinations, hidden_}};
    start_.declare(all);
    return all;
  }
  LayerCost cost() const override { return {2.0 * double(hidden_) * double(hidden_), hidden_, hidden_}; }

  void forward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
               MatrixView out) const override {
    Context& ctx = verbs.context();
    const SoftmaxState state{saved.at(0), saved.at(1)};
    MatrixView aggregated = saved.at(2);
    start_.prepare(verbs, w, input.self.dense, saved);
    softmax_begin(ctx, state, aggregated);
    verbs.gather(input.rows, [&](const Source& s) {
      softmax_add(ctx, arcs_of(*s.block), temperature_, messages(verbs, w, saved, s), state, aggregated);
    });
    softmax_finish(ctx, state, aggregated);
    Epilogue residual;
    residual.bias = w.value(1).data;
    residual.residual = input.self.dense;
    gemm(ctx, combined(verbs, w, input, saved), w.value(0), out, false, residual);
  }

  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView out,
                MatrixView d_out, const LayerGradient& gradient) const override {
    Context& ctx = verbs.context();
    const SoftmaxState state{saved.at(0), saved.at(1)};
    sum_rows(ctx, d_out, w.gradient(1).data, true);
    gemm_at(ctx, combined(verbs, w, input, saved), d_out, w.gradient(0), true);
    const MatrixView d_combined = out;  // of the same shape, and nobody reads it any more
    gemm_bt(ctx, d_out, w.value(0), d_combined);
    RowStart::Sums sums = start_.begin_backward();
    verbs.gather_backward(
        input.rows,
        [&](const Source& s, MatrixView d_rows) {
          if (d_rows.cols == 0) return;
          ConstMatrixView m = messages(verbs, w, saved, s);
          softmax_backward(ctx, arcs_of(*s.block), s.block->transpose, temperature_, m, state, saved.at(2),
                           d_combined, d_rows);
          ConstMatrixView r = start_.forward(verbs, w, saved, s.rows.dense, s.block->src_ids, "resgcn.rows");
          apply_backward(ctx, kRelu, {}, r, d_rows, {});
          start_.backward(verbs, w, saved, s.rows.dense, s.block->src_ids, d_rows, sums);
        },
        gradient.rows);
    MatrixView d_self = ctx.workspace->matrix("resgcn.d_self", d_out.rows, hidden_);
    axpby(ctx, 1, d_combined, 0, d_self);
    start_.backward(verbs, w, saved, input.self.dense, verbs.destination_ids(), d_self, sums);
    axpby(ctx, 1, d_self, 1, gradient.self);
    start_.end_backward(verbs, w, saved, input.self.dense, sums, gradient.self);
    axpby(ctx, 1, d_out, 1, gradient.self);  // the residual
  }

 private:
  /// ReLU(r) + ε, where r = start(h).
  ConstMatrixView messages(Verbs& verbs, const LayerWeights& w, Saved& saved, const Source& s) const {
    Context& ctx = verbs.context();
    ConstMatrixView r = start_.forward(verbs, w, saved, s.rows.dense, s.block->src_ids, "resgcn.rows");
    MatrixView m = ctx.workspace->matrix("resgcn.messages", r.rows, r.cols);
    MatrixView epsilon = ctx.workspace->matrix("resgcn.epsilon", 1, r.cols);
    axpby(ctx, 1, r, 0, m);
    apply(ctx, kRelu, m);
    fill(ctx, kMessageEpsilon, epsilon);
    Epilogue shift;
    shift.bias = epsilon.data;
    apply(ctx, shift, m);
    return m;
  }
  /// (dst, hidden): r + aggregated, what the weight is applied to.
  ConstMatrixView combined(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved) const {
    Context& ctx = verbs.context();
    ConstMatrixView r =
        start_.forward(verbs, w, saved, input.self.dense, verbs.destination_ids(), "resgcn.rows");
    MatrixView sum = ctx.workspace->matrix("resgcn.combined", r.rows, r.cols);
    axpby(ctx, 1, r, 0, sum);
    axpby(ctx, 1, saved.at(2), 1, sum);
    return sum;
  }
  Real temperature_;
};

/// norm, ReLU, dropout, linear.
class Classifier final : public Layer {
 public:
  Classifier(Index in, Index out, RowStart start) : in_(in), out_(out), start_(start) {}
  std::string describe() const override { return fmt::format("classifier {} → {}", in_, out_); }
  Index in() const override { return in_; }
  Index out() const override { return out_; }
  bool gathers() const override { return false; }
  LayerCost cost() const override { return {2.0 * double(in_) * double(out_), 0, 0}; }
  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> all{{"weight", in_, out_, Init::kGlorot, DecayGroup::kDense},
                                   {"bias", 1, out_, Init::kZero, DecayGroup::kDense}};
    start_.declare(all);
    return all;
  }
  std::vector<SavedSpec> saved() const override {
    std::vector<SavedSpec> all;
    start_.declare(all);
    return all;
  }
  void forward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
               MatrixView out) const override {
    start_.prepare(verbs, w, input.self.dense, saved);
    Epilogue bias;
    bias.bias = w.value(1).data;
    gemm(verbs.context(),
         start_.forward(verbs, w, saved, input.self.dense, verbs.destination_ids(), "resgcn.rows"),
         w.value(0), out, false, bias);
  }
  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView,
                MatrixView d_out, const LayerGradient& gradient) const override {
    Context& ctx = verbs.context();
    sum_rows(ctx, d_out, w.gradient(1).data, true);
    ConstMatrixView r =
        start_.forward(verbs, w, saved, input.self.dense, verbs.destination_ids(), "resgcn.rows");
    gemm_at(ctx, r, d_out, w.gradient(0), true);
    gemm_bt(ctx, d_out, w.value(0), gradient.self);
    RowStart::Sums sums = start_.begin_backward();
    start_.backward(verbs, w, saved, input.self.dense, verbs.destination_ids(), gradient.self, sums);
    start_.end_backward(verbs, w, saved, input.self.dense, sums, gradient.self);
  }

 private:
  Index in_, out_;
  RowStart start_;
};

}  // namespace

Model make_resgcn(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const bool softmax = spec.options.text("aggregator") == "softmax";
  const auto temperature = Real(spec.options.number("temperature"));
  Model model;
  LayerOptions encoder;
  encoder.in = input.features;
  encoder.out = spec.hidden;
  encoder.sparse_input = input.sparse_features;
  encoder.dropout = training.input_dropout.rate;
  encoder.dropout_purpose = Purpose::kInputDropout;
  encoder.decay = encoder.finish.decay = DecayGroup::kDense;
  model.layers.push_back(make_dense(encoder));
  for (int l = 1; l <= spec.layers; ++l) {
    const bool bare = l == 1;
    RowStart start({spec.hidden, bare ? Norm::kNone : spec.norm, !bare, bare ? 0 : training.dropout, l}, 2,
                   softmax ? 3 : 1);
    if (softmax) {
      model.layers.push_back(std::make_unique<SoftmaxBlock>(spec.hidden, start, temperature));
    } else {
      model.layers.push_back(std::make_unique<MeanBlock>(spec.hidden, start));
    }
  }
  RowStart end({spec.hidden, spec.norm, true, training.dropout, spec.layers + 1}, 2, 0);
  model.layers.push_back(std::make_unique<Classifier>(spec.hidden, input.classes, end));
  return model;
}

}  // namespace atl
