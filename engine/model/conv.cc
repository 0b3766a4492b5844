// A convolution with one weight: out = finish(Â · drop(h) · W). (Kipf & Welling 2017; with mean scales and self
// loops it is GraphSAGE's "gcn" aggregator.)
#include "model/conv.h"
#include "model/transform.h"

namespace atl {
namespace {

class Conv final : public Layer {
 public:
  explicit Conv(LayerOptions o)
      : o_(o),
        aggregate_first_(!o.sparse_input && o.in <= o.out),
        finish_(o.finish, 1, aggregate_first_ ? 1 : 0) {}

  std::string describe() const override { return fmt::format("conv {} → {}", o_.in, o_.out); }
  Index in() const override { return o_.in; }
  Index out() const override { return o_.out; }
  bool gathers() const override { return true; }
  bool rows_in_backward() const override { return !aggregate_first_; }
  bool in_place_backward() const override { return aggregate_first_; }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> all{{"weight", o_.in, o_.out, Init::kGlorot, o_.decay}};
    finish_.declare(all);
    return all;
  }
  std::vector<SavedSpec> saved() const override {
    std::vector<SavedSpec> all;
    if (aggregate_first_) all.push_back({"aggregated", SavedSpec::Over::kDestinations, o_.in});
    finish_.declare(all);
    return all;
  }
  LayerCost cost() const override {
    return {2.0 * double(o_.in) * double(o_.out), aggregate_first_ ? o_.in : o_.out, o_.in};
  }

  void forward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
               MatrixView out) const override {
    Context& ctx = verbs.context();
    const ConstMatrixView residual = o_.skip ? input.self.dense : ConstMatrixView();
    MatrixView target = finish_.target(saved, out);
    if (aggregate_first_) {
      MatrixView aggregated = saved.at(0);
      verbs.gather(input.rows, [&](const Source& s) {
        spmm(ctx, arcs_of(*s.block), dropped_rows(ctx, s.rows, dropout_of(verbs, s), "conv.rows"), aggregated,
             !s.first);
      });
      gemm(ctx, aggregated, w.value(0), target, false, finish_.fused(verbs, w, residual));
    } else {
      verbs.gather(input.rows, [&](const Source& s) {
        MatrixView z = ctx.workspace->matrix("conv.z", s.rows.rows(), o_.out);
        transform(ctx, s.rows, dropout_of(verbs, s), w.value(0), z);
        spmm(ctx, arcs_of(*s.block), z, target, !s.first);
      });
      apply(ctx, finish_.fused(verbs, w, residual), target);
    }
    finish_.forward(verbs, w, saved, out, residual);
  }

  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView out,
                MatrixView d_out, const LayerGradient& gradient) const override {
    Context& ctx = verbs.context();
    MatrixView d_skip = o_.skip ? ctx.workspace->matrix("conv.d_skip", d_out.rows, d_out.cols) : MatrixView();
    if (o_.skip) fill(ctx, 0, d_skip);
    finish_.backward(verbs, w, saved, out, d_out, d_skip);
    if (aggregate_first_) {
      gemm_at(ctx, saved.at(0), d_out, w.gradient(0), true);
      if (gradient.rows.cols > 0) {
        MatrixView d_aggregated(out.data, out.rows, o_.in);  // in ≤ out, and out has done its work
        gemm_bt(ctx, d_out, w.value(0), d_aggregated);
        verbs.gather_backward(
            input.rows,
            [&](const Source& s, MatrixView d_rows) {
              if (d_rows.cols == 0) return;
              spmm(ctx, transposed_arcs_of(*s.block), d_aggregated, d_rows, false, dropout_of(verbs, s));
            },
            gradient.rows);
      }
    } else {
      verbs.gather_backward(
          input.rows,
          [&](const Source& s, MatrixView d_rows) {
            MatrixView d_z = ctx.workspace->matrix("conv.z", s.rows.rows(), o_.out);
            spmm(ctx, transposed_arcs_of(*s.block), d_out, d_z);
            transform_backward(ctx, s.rows, dropout_of(verbs, s), w.value(0), d_z, w.gradient(0), d_rows);
          },
          gradient.rows);
    }
    if (o_.skip && gradient.self.cols > 0) axpby(ctx, 1, d_skip, 1, gradient.self);
  }

 private:
  Dropout dropout_of(Verbs& verbs, const Source& s) const {
    return verbs.dropout(o_.dropout, o_.dropout_purpose, o_.index, s.block->src_ids);
  }

  LayerOptions o_;
  bool aggregate_first_;  // the narrower side is aggregated
  RowFinish finish_;
};

}  // namespace

std::unique_ptr<Layer> make_conv(const LayerOptions& options) {
  LayerOptions o = options;
  o.finish.cols = o.out;
  return std::make_unique<Conv>(o);
}

}  // namespace atl
