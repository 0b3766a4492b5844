// out = h + (r + a)·W + b, r = start(h), a = softmax aggregation of the messages m = ReLU(r), column by column: GENConv
// of DeeperGCN (Li et al. 2020). It adds 10⁻⁷ to messages for the sake of its other aggregators; a softmax weighs
// messages by their differences, so here that would be 10⁻⁷ in `a` and is left out.
#include "model/residual_block.h"

namespace atl {
namespace {

const Epilogue kRelu{.activation = Activation::kRelu};

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
    const Started self = started_self(verbs, w, input, saved);
    softmax_begin(ctx, state, aggregated);
    verbs.gather(input.rows, [&](const Source& s) {
      const ConstMatrixView m = messages(ctx, started(verbs, w, saved, s, self));
      softmax_add(ctx, arcs_of(*s.block), temperature_, m, state, aggregated);
    });
    softmax_finish(ctx, state, aggregated);
    gemm(ctx, combined(ctx, self, aggregated), w.value(0), out, false, ending(w, input));
  }

  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView out,
                MatrixView d_out, const LayerGradient& gradient) const override {
    Context& ctx = verbs.context();
    const SoftmaxState state{saved.at(0), saved.at(1)};
    const ConstMatrixView aggregated = saved.at(2);
    const Started self = started_self(verbs, w, input, saved);
    sum_rows(ctx, d_out, w.gradient(1).data, true);
    gemm_at(ctx, combined(ctx, self, aggregated), d_out, w.gradient(0), true);
    const MatrixView d_combined = out;  // of the same shape, and nobody reads it any more
    gemm_bt(ctx, d_out, w.value(0), d_combined);
    const RowStart::Sums sums = start_.begin_backward(verbs);
    verbs.gather_backward(
        input.rows,
        [&](const Source& s, MatrixView d_rows) {
          if (d_rows.cols == 0) return;
          const Started source = started(verbs, w, saved, s, self);
          const ConstMatrixView m = messages(ctx, source);
          softmax_backward(ctx, arcs_of(*s.block), s.block->transpose, temperature_, m, state, aggregated,
                           d_combined, d_rows);
          apply_backward(ctx, kRelu, {}, m, d_rows, {});
          start_.backward(verbs, w, saved, source, d_rows, sums);
        },
        gradient.rows);
    finish_backward(verbs, w, saved, self, sums, d_combined, d_out, gradient);
  }

 private:
  /// ReLU(r): r itself where it came from one.
  ConstMatrixView messages(Context& ctx, const Started& source) const {
    if (start_.relu()) return source.rows;
    MatrixView m = ctx.workspace->matrix("resgcn.messages", source.rows.rows, source.rows.cols);
    axpby(ctx, 1, source.rows, 0, m);
    apply(ctx, kRelu, m);
    return m;
  }
  /// (dst, hidden): r + a, what the weight is applied to.
  ConstMatrixView combined(Context& ctx, const Started& self, ConstMatrixView aggregated) const {
    MatrixView sum = ctx.workspace->matrix("resgcn.combined", aggregated.rows, aggregated.cols);
    axpby(ctx, 1, self.rows, 0, sum);
    axpby(ctx, 1, aggregated, 1, sum);
    return sum;
  }

  Real temperature_;
};

}  // namespace

std::unique_ptr<Layer> make_softmax_block(Index hidden, RowStart start, Real temperature) {
  return std::make_unique<SoftmaxBlock>(hidden, start, temperature);
}

}  // namespace atl
