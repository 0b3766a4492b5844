// Aggregation alone: out = own_row·h + Â h, or [h, Â h]. Without parameters or draws, so that a schedule computes it once where
// its input is fixed: SGC's hops, and the first layer of a model whose input isn't dropped out
// (PipeGCN's implementation, Wan et al. 2022, does so).
#include "model/aggregate.h"
#include "model/conv.h"

namespace atl {
namespace {

class Propagate final : public Layer {
 public:
  Propagate(Index in, bool with_self, Real own_row)
      : Layer(spec_of(in, with_self ? 2 * in : in)), in_(in), with_self_(with_self), own_row_(own_row) {}

  void forward(Verbs& verbs, const LayerWeights&, const LayerInput& input, Saved&,
               MatrixView out) const override {
    Context& ctx = verbs.context();
    MatrixView aggregated = with_self_ ? out.slice_cols(in_, in_) : out;
    const auto own = [&] {
      if (own_row_ != 0) axpby(ctx, own_row_, input.self.dense, 0, aggregated);
    };
    sum_over(verbs, input.rows, {aggregated, own_row_ != 0}, own,
             [&](const Source& s, MatrixView sum, bool accumulate, bool) {
               spmm(ctx, arcs_of(*s.block), s.rows.dense, sum, accumulate);
             });
    if (with_self_) axpby(ctx, 1, input.self.dense, 0, out.slice_cols(0, in_));
  }

  void backward(Verbs& verbs, const LayerWeights&, const LayerInput& input, Saved&, MatrixView,
                MatrixView d_out, const LayerGradient& gradient) const override {
    if (gradient.rows.cols == 0) return;
    Context& ctx = verbs.context();
    ConstMatrixView d_aggregated = with_self_ ? d_out.slice_cols(in_, in_) : d_out;
    sum_back(verbs, input.rows, d_aggregated, gradient.rows, no_own_work,
             [&](const Source& s, ConstMatrixView d_sum) {
               if (s.d_rows.cols > 0) spmm(ctx, transposed_arcs_of(*s.block), d_sum, s.d_rows);
             });
    if (with_self_) axpby(ctx, 1, d_out.slice_cols(0, in_), 1, gradient.self);
    if (own_row_ != 0) axpby(ctx, own_row_, d_aggregated, 1, gradient.self);
  }

 private:
  static LayerSpec spec_of(Index in, Index out) {
    return {.name = fmt::format("propagate {} → {}", in, out),
            .in = in,
            .out = out,
            .cost = {0, in},
            .gathers = true,
            .constant = true};
  }

  Index in_;
  bool with_self_;
  Real own_row_;
};

}  // namespace

std::unique_ptr<Layer> make_propagate(Index in, bool with_self, Real own_row) {
  return std::make_unique<Propagate>(in, with_self, own_row);
}

}  // namespace atl
