// A convolution with one weight: out = finish((own_row·I + Â) · drop(h) · W). (Kipf & Welling 2017, equation
// 2; with mean scales and self loops it is GraphSAGE's "gcn" aggregator.)
#include "model/conv.h"

#include <algorithm>

#include "model/finished_layer.h"

namespace atl {
namespace {

LayerSpec sum_product(const LayerOptions& o) {
  const NeighbourSum sum(o);
  return {.name = fmt::format("conv {} → {}", o.in, o.out),
          .parameters = {input_weight("weight", o)},
          .saved = sum.saved(),
          .cost = {2.0 * sum.products() * double(o.in) * double(o.out), sum.gather_columns()},
          .gathers = true,
          .product_cols = sum.sends_products() ? o.out : 0,
          .rows_in_backward = sum.reads_rows_back(),
          .in_place_backward = !sum.reads_rows_back()};
}

class Conv final : public FinishedLayer {
 public:
  explicit Conv(const LayerOptions& o) : FinishedLayer(o, sum_product(o)), sum_(o) {}

 private:
  void multiply(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView target,
                const Epilogue& finish) const override {
    OwnRows own(verbs.context(), options().own_row != 0 ? input.rows : Rows());
    sum_.forward(verbs, input, own, w.value(0), saved, {target}, finish);
  }
  void multiply_backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
                         MatrixView d_target, MatrixView scratch,
                         const LayerGradient& gradient) const override {
    sum_.backward(verbs, input, w.value(0), saved, d_target, scratch, w.gradient(0), gradient);
  }

  NeighbourSum sum_;
};

}  // namespace

std::unique_ptr<Layer> make_conv(const LayerOptions& options) {
  return std::make_unique<Conv>(options);
}

// The parameters are the bias, then the norm's. The saved matrices are the boundary rows if they are spared,
// then with a norm the unfinished rows and batch norm's statistics.
RowFinish::RowFinish(Options options, int first_parameter, int first_saved)
    : options_(options),
      first_parameter_(first_parameter),
      first_saved_(first_saved),
      norm_(options.norm, options.cols,
            first_parameter + (options.bias && options.norm != Norm::kBatch ? 1 : 0), unfinished() + 1) {}

void RowFinish::declare(std::vector<ParameterSpec>& parameters) const {
  if (has_bias()) {
    parameters.push_back(
        {"bias", 1, options_.cols, options_.bias_init, options_.decay, options_.bias_fan_in});
  }
  norm_.declare(parameters);
}

void RowFinish::declare(std::vector<SavedSpec>& saved) const {
  if (options_.spares_boundary) saved.push_back({"boundary", SavedSpec::Over::kBoundary, options_.cols});
  if (norm_) saved.push_back({"pre", SavedSpec::Over::kOutputs, options_.cols});
  norm_.declare(saved);
}

MatrixView RowFinish::target(Saved& saved, MatrixView out) const {
  return norm_ ? saved.at(unfinished()) : out;
}

Epilogue RowFinish::epilogue(Verbs& verbs, const LayerWeights& weights, Saved* saved) const {
  Epilogue e;
  if (has_bias()) e.bias = weights.value(first_parameter_).data;
  if (norm_) norm_.enter(weights, *saved, e);
  e.activation = options_.activation;
  e.dropout = dropout(verbs);
  return e;
}

/// The finish's dropout, which leaves out boundary rows where they are spared.
Dropout RowFinish::dropout(Verbs& verbs) const {
  const PassState& state = verbs.state();
  Dropout d = verbs.dropout(options_.dropout, options_.dropout_purpose, options_.dropout_layer, state.ids);
  if (options_.spares_boundary) d.begin = std::min(state.boundary, state.destinations);
  return d;
}

/// Keeps the boundary rows as they are, for other ranks, and drops them out for this rank's own next layer.
void RowFinish::spare_boundary(Verbs& verbs, Saved& saved, MatrixView out) const {
  Dropout d = dropout(verbs);
  if (!d || d.begin == 0) return;
  const MatrixView kept = saved.at(first_saved_), rows = out.slice_rows(0, kept.rows);
  axpby(verbs.context(), 1, rows, 0, kept);
  d.begin = 0;
  atl::dropout(verbs.context(), d.of_rows(0, kept.rows), rows, rows);
}

Epilogue RowFinish::fused(Verbs& verbs, const LayerWeights& weights, ConstMatrixView residual) const {
  if (norm_) return {};
  Epilogue e = epilogue(verbs, weights, nullptr);
  e.residual = residual;
  return e;
}

void RowFinish::forward(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
                        ConstMatrixView residual) const {
  if (norm_) {  // without a norm fused() did it all
    ConstMatrixView pre = saved.at(unfinished());
    norm_.statistics(verbs, weights, pre, saved);
    Epilogue e = epilogue(verbs, weights, &saved);
    e.residual = residual;
    apply(verbs.context(), e, pre, out);
  }
  if (options_.spares_boundary) spare_boundary(verbs, saved, out);
}

void RowFinish::backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
                         MatrixView d_out, MatrixView d_residual) const {
  Context& ctx = verbs.context();
  if (options_.spares_boundary && dropout(verbs)) {
    const ConstMatrixView kept = saved.at(first_saved_);
    axpby(ctx, 1, kept, 0, out.slice_rows(0, kept.rows));
  }
  const Epilogue e = epilogue(verbs, weights, &saved);
  EpilogueGradient gradient;
  if (has_bias()) gradient.bias = weights.gradient(first_parameter_).data;
  norm_.enter(weights, gradient);
  gradient.residual = d_residual;
  ConstMatrixView pre = norm_ ? ConstMatrixView(saved.at(unfinished())) : ConstMatrixView();
  if (!norm_.batch()) return apply_backward(ctx, e, pre, out, d_out, gradient);

  static constexpr ScratchKey kSums, kNone;
  const std::span<double> sums = zeroed_sums(ctx, kSums, 2 * options_.cols);
  column_sums_backward(ctx, e, pre, out, d_out, sums.data());
  if (verbs.state().weights.empty()) {
    verbs.reduce(sums);
    return apply_backward(ctx, e, pre, out, d_out, gradient, sums, verbs.state().reduced_rows);
  }
  apply_backward(ctx, e, pre, out, d_out, gradient, zeroed_sums(ctx, kNone, 2 * options_.cols), 1);
  norm_.statistics_backward(verbs, weights, pre, saved, sums, d_out);
}

}  // namespace atl
