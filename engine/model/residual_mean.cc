// out = h + r·W_self + mean(r)·W_neigh + b, r = start(h): GraNNDis' ResGCN+ block. (Li et al. 2020; the convolution is
// GraphSAGE's.)
#include "model/residual_block.h"

namespace atl {
namespace {

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
    const Started self = started_self(verbs, w, input, saved);
    verbs.gather(input.rows, [&](const Source& s) {
      spmm(ctx, arcs_of(*s.block), started(verbs, w, saved, s, self).rows, aggregated, !s.first);
    });
    gemm(ctx, self.rows, w.value(0).slice_rows(0, hidden_), out);
    gemm(ctx, aggregated, w.value(0).slice_rows(hidden_, hidden_), out, true, ending(w, input));
  }

  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView out,
                MatrixView d_out, const LayerGradient& gradient) const override {
    Context& ctx = verbs.context();
    const Started self = started_self(verbs, w, input, saved);
    sum_rows(ctx, d_out, w.gradient(1).data, true);
    gemm_at(ctx, self.rows, d_out, w.gradient(0).slice_rows(0, hidden_), true);
    gemm_at(ctx, saved.at(0), d_out, w.gradient(0).slice_rows(hidden_, hidden_), true);
    const MatrixView d_aggregated = out;  // of the same shape, and nobody reads it any more
    gemm_bt(ctx, d_out, w.value(0).slice_rows(hidden_, hidden_), d_aggregated);
    const RowStart::Sums sums = start_.begin_backward(verbs);
    verbs.gather_backward(
        input.rows,
        [&](const Source& s, MatrixView d_rows) {
          if (d_rows.cols == 0) return;
          spmm(ctx, transposed_arcs_of(*s.block), d_aggregated, d_rows);
          start_.backward(verbs, w, saved, started(verbs, w, saved, s, self), d_rows, sums);
        },
        gradient.rows);
    MatrixView d_self = ctx.workspace->matrix("resgcn.d_self", d_out.rows, hidden_);
    gemm_bt(ctx, d_out, w.value(0).slice_rows(0, hidden_), d_self);
    finish_backward(verbs, w, saved, self, sums, d_self, d_out, gradient);
  }
};

}  // namespace

std::unique_ptr<Layer> make_mean_block(Index hidden, RowStart start) {
  return std::make_unique<MeanBlock>(hidden, start);
}

}  // namespace atl
