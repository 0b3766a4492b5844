// Aggregation alone: out = Â h, or [h, Â h]. Without parameters or draws, so that a schedule computes it once where
// its input is fixed: SGC's hops, and the first layer of a model whose input isn't dropped out
// (PipeGCN's implementation, Wan et al. 2022, does so).
#include "model/aggregate.h"
#include "model/conv.h"

namespace atl {
namespace {

class Propagate final : public Layer {
 public:
  Propagate(Index in, bool with_self) : in_(in), with_self_(with_self) {}

  std::string describe() const override { return fmt::format("propagate {} → {}", in_, out()); }
  Index in() const override { return in_; }
  Index out() const override { return with_self_ ? 2 * in_ : in_; }
  bool gathers() const override { return true; }
  bool constant() const override { return true; }
  LayerCost cost() const override { return {0, in_}; }
  std::vector<ParameterSpec> parameters() const override { return {}; }
  std::vector<SavedSpec> saved() const override { return {}; }

  void forward(Verbs& verbs, const LayerWeights&, const LayerInput& input, Saved&,
               MatrixView out) const override {
    Context& ctx = verbs.context();
    MatrixView aggregated = with_self_ ? out.slice_cols(in_, in_) : out;
    sum_over(verbs, input.rows, {aggregated}, no_own_work,
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
  }

 private:
  Index in_;
  bool with_self_;
};

}  // namespace

std::unique_ptr<Layer> make_propagate(Index in, bool with_self) {
  return std::make_unique<Propagate>(in, with_self);
}

}  // namespace atl
