// GraphSAGE with mean aggregation: out = finish(drop(h)·W_self + mean(drop(h))·W_neigh). (Hamilton et al. 2017.) Whether
// the mean includes the vertex itself is a matter of the graph's self loops. One parameter (2·in, out), W_self on top, as
// in the form with a precomputed first aggregation, whose input is [h, mean(h)].
#include "model/stack.h"
#include "model/transform.h"

namespace atl {
namespace {

class Sage final : public Layer {
 public:
  explicit Sage(LayerOptions o)
      : o_(o),
        aggregate_first_(!o.sparse_input && o.in <= o.out),
        finish_(o.finish, 1, aggregate_first_ ? 1 : 0) {}

  std::string describe() const override { return fmt::format("sage {} → {}", o_.in, o_.out); }
  Index in() const override { return o_.in; }
  Index out() const override { return o_.out; }
  bool gathers() const override { return true; }
  bool rows_in_backward() const override { return !aggregate_first_; }
  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> all{{"weight", 2 * o_.in, o_.out, o_.init, o_.decay, o_.in, o_.out}};
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
    return {4.0 * double(o_.in) * double(o_.out), aggregate_first_ ? o_.in : o_.out, o_.in};
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
      transform(ctx, input.self, self_dropout(verbs), self_weight(w.value(0)), target);
      gemm(ctx, aggregated, neighbour_weight(w.value(0)), target, true, finish_.fused(verbs, w, residual));
    } else {
      MatrixView sum = ctx.workspace->matrix("sage.sum", out.rows, o_.out);
      verbs.gather(input.rows, [&](const Source& s) {
        MatrixView z = ctx.workspace->matrix("conv.z", s.rows.rows(), o_.out);
        transform(ctx, s.rows, dropout_of(verbs, s), neighbour_weight(w.value(0)), z);
        spmm(ctx, arcs_of(*s.block), z, sum, !s.first);
      });
      transform(ctx, input.self, self_dropout(verbs), self_weight(w.value(0)), target);
      axpby(ctx, 1, sum, 1, target);
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
      gemm_at(ctx, saved.at(0), d_out, neighbour_weight(w.gradient(0)), true);
      if (gradient.rows.cols > 0) {
        MatrixView d_aggregated(out.data, out.rows, o_.in);  // in ≤ out, and out has done its work
        gemm_bt(ctx, d_out, neighbour_weight(w.value(0)), d_aggregated);
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
            transform_backward(ctx, s.rows, dropout_of(verbs, s), neighbour_weight(w.value(0)), d_z,
                               neighbour_weight(w.gradient(0)), d_rows);
          },
          gradient.rows);
    }
    transform_backward(ctx, input.self, self_dropout(verbs), self_weight(w.value(0)), d_out,
                       self_weight(w.gradient(0)), gradient.self, true);
    if (o_.skip && gradient.self.cols > 0) axpby(ctx, 1, d_skip, 1, gradient.self);
  }

 private:
  template <class T>
  View<T> self_weight(View<T> w) const {
    return w.slice_rows(0, o_.in);
  }
  template <class T>
  View<T> neighbour_weight(View<T> w) const {
    return w.slice_rows(o_.in, o_.in);
  }

  Dropout dropout_of(Verbs& verbs, const Source& s) const {
    return verbs.dropout(o_.dropout, o_.dropout_purpose, o_.index, s.block->src_ids);
  }
  Dropout self_dropout(Verbs& verbs) const {
    return verbs.dropout(o_.dropout, o_.dropout_purpose, o_.index, verbs.destination_ids());
  }

  LayerOptions o_;
  bool aggregate_first_;
  RowFinish finish_;
};

}  // namespace

std::unique_ptr<Layer> make_sage(const LayerOptions& options) {
  LayerOptions o = options;
  o.finish.cols = o.out;
  return std::make_unique<Sage>(o);
}

/// aggregator: mean (without the vertex itself) | meanWithSelf (the graph has self loops) | gcn (one weight for both).
Model make_sage_model(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const bool one_weight = spec.options.text("aggregator") == "gcn";
  Model model;
  model.layers = one_weight ? make_stack({make_conv, false}, spec, training, input)
                            : make_stack({make_sage, true, Init::kFanIn}, spec, training, input);
  return model;
}

}  // namespace atl
