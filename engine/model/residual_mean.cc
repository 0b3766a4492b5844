// out = h + r·W_self + mean(r)·W_neigh + b with r = start(h): GraNNDis' ResGCN+ block. (Li et al. 2020; the
// convolution is GraphSAGE's, Hamilton et al. 2017, section 3.3.)
#include "model/aggregate.h"
#include "model/residual_block.h"

namespace atl {
namespace {

class MeanBlock final : public ResidualBlock {
 public:
  MeanBlock(Index hidden, RowStart start)
      : ResidualBlock(hidden, start, 2 * hidden,
                      {.name = fmt::format("resgcn mean {} → {}", hidden, hidden),
                       .saved = {{"aggregated", SavedSpec::Over::kDestinations, hidden}},
                       .cost = {4.0 * double(hidden) * double(hidden), hidden}}) {}

 private:
  void convolve(const Pass& p, MatrixView out, const Epilogue& ending) const override {
    Context& ctx = p.verbs.context();
    MatrixView aggregated = p.saved.at(0);
    const auto own = [&] { gemm(ctx, p.self.rows, self_weight(p.weights.value(0)), out); };
    sum_over(p.verbs, p.rows, {aggregated}, own, [&](const Source& s, MatrixView sum, bool accumulate, bool) {
      spmm(ctx, arcs_of(*s.block), started(p, s).rows, sum, accumulate);
    });
    gemm(ctx, aggregated, neighbour_weight(p.weights.value(0)), out, true, ending);
  }

  MatrixView convolve_backward(const Pass& p, RowStart::Sums sums, ConstMatrixView d_out, MatrixView scratch,
                               MatrixView d_rows) const override {
    Context& ctx = p.verbs.context();
    const auto weights = [&] {
      gemm_at(ctx, p.self.rows, {}, d_out, self_weight(p.weights.gradient(0)), true);
      gemm_at(ctx, p.saved.at(0), {}, d_out, neighbour_weight(p.weights.gradient(0)), true);
    };
    const MatrixView d_aggregated = scratch;  // of the same shape
    gemm_bt(ctx, d_out, neighbour_weight(p.weights.value(0)), d_aggregated);
    sum_back(p.verbs, p.rows, d_aggregated, d_rows, weights, [&](const Source& s, ConstMatrixView d_sum) {
      const MatrixView d_source = gradient_of(p, s);
      if (d_source.cols == 0) return;
      spmm(ctx, transposed_arcs_of(*s.block), d_sum, d_source);
      start_.backward(p.verbs, p.weights, p.saved, started(p, s), d_source, sums);
    });
    static constexpr ScratchKey kOfSelf;
    MatrixView d_self = ctx.workspace->matrix(kOfSelf, d_out.rows, hidden_, ctx.values);
    gemm_bt(ctx, d_out, self_weight(p.weights.value(0)), d_self);
    return d_self;
  }

  template <class T>
  View<T> self_weight(View<T> w) const {
    return w.slice_rows(0, hidden_);
  }
  template <class T>
  View<T> neighbour_weight(View<T> w) const {
    return w.slice_rows(hidden_, hidden_);
  }
};

}  // namespace

std::unique_ptr<Layer> make_mean_block(Index hidden, RowStart start) {
  return std::make_unique<MeanBlock>(hidden, start);
}

}  // namespace atl
