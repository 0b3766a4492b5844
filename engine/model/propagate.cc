// Aggregation alone: out = own_row·h + Â h, or [h, Â h], or [h, Â of some of h's columns]. It has neither
// parameters nor draws, so a schedule computes it once where its input is fixed: SGC's and SIGN's hops, and
// the first layer of a model whose input isn't dropped out (as in PipeGCN's implementation, Wan et al. 2022).
#include "model/aggregate.h"
#include "model/conv.h"

namespace atl {
namespace {

class Propagate final : public Layer {
 public:
  explicit Propagate(const Propagated& o) : Layer(spec_of(o)), o_(o) {}

  void forward(Verbs& verbs, const LayerWeights&, const LayerInput& input, Saved&,
               MatrixView out) const override {
    Context& ctx = verbs.context();
    const MatrixView aggregated = o_.appends ? out.slice_cols(o_.in, o_.summed()) : out;
    const auto own = [&] {
      if (o_.own_row != 0) axpby(ctx, o_.own_row, summed(input.self.dense), 0, aggregated);
    };
    const Rows rows = summed(input.rows.dense);
    sum_over(verbs, rows, {aggregated, o_.own_row != 0}, own,
             [&](const Source& s, MatrixView sum, bool accumulate, bool) {
               spmm(ctx, arcs_of(*s.block), s.rows.dense, sum, accumulate);
             });
    const MatrixView before = out.slice_cols(0, o_.in);
    if (o_.appends && before.address() != input.self.dense.address())
      axpby(ctx, 1, input.self.dense, 0, before);
  }

  void backward(Verbs& verbs, const LayerWeights&, const LayerInput& input, Saved&, MatrixView,
                MatrixView d_out, const LayerGradient& gradient) const override {
    if (gradient.rows.cols == 0) return;
    Context& ctx = verbs.context();
    const ConstMatrixView d_aggregated = o_.appends ? d_out.slice_cols(o_.in, o_.summed()) : d_out;
    if (o_.first > 0) fill(ctx, 0, gradient.rows.slice_cols(0, o_.first));
    const Rows rows = summed(input.rows.dense);
    sum_back(verbs, rows, d_aggregated, gradient.rows.slice_cols(o_.first, o_.summed()), no_own_work,
             [&](const Source& s, ConstMatrixView d_sum) {
               if (s.d_rows.cols > 0) spmm(ctx, transposed_arcs_of(*s.block), d_sum, s.d_rows);
             });
    if (o_.appends) axpby(ctx, 1, d_out.slice_cols(0, o_.in), 1, gradient.self);
    if (o_.own_row != 0)
      axpby(ctx, o_.own_row, d_aggregated, 1, gradient.self.slice_cols(o_.first, o_.summed()));
  }

 private:
  static LayerSpec spec_of(const Propagated& o) {
    const Index out = o.appends ? o.in + o.summed() : o.in;
    ATOLL_CHECK(o.appends || o.first == 0, "columns that aren't summed are handed on, or lost");
    return {.name = fmt::format("propagate {} → {}", o.in, out),
            .in = o.in,
            .out = out,
            .cost = {0, o.summed()},
            .gathers = true,
            .gathered = o.summed(),
            .constant = true,
            .appends = o.appends};
  }
  /// The columns of h that are summed. h may have these columns alone, as a gather brought them.
  ConstMatrixView summed(ConstMatrixView h) const {
    return h.cols == o_.summed() ? h : h.slice_cols(o_.first, o_.summed());
  }

  Propagated o_;
};

}  // namespace

std::unique_ptr<Layer> make_propagate(const Propagated& options) {
  return std::make_unique<Propagate>(options);
}

}  // namespace atl
