// GraphSAGE with mean aggregation: out = finish(drop(h)·W_self + mean(drop(h))·W_neigh). (Hamilton et al.
// 2017, algorithm 1 and section 3.3.) The graph's self-loops decide whether the mean includes the vertex
// itself. One parameter (2·in, out) has W_self on top, as in the form with a precomputed first aggregation,
// whose input is [h, mean(h)].
#include <algorithm>

#include "model/finished_layer.h"
#include "model/kinds.h"

namespace atl {
namespace {

/// With a fixed input, no computation follows that could hide the sum of the gradient over ranks. So the
/// gradient comes in eight parts: all but the last travel while others are computed.
int sage_parts(const LayerOptions& o) {
  return o.fixed_input && !o.is_split() ? 2 * int(std::min<Index>(4, o.in)) : 1;
}

LayerSpec sage_product(const LayerOptions& o) {
  const NeighbourSum sum(o);
  const Index whole = o.of_whole();
  return {.name = fmt::format("sage {} → {}", o.in, o.out),
          .parameters = {{"weight", 2 * whole, o.out, o.init, o.decay, whole, o.out, true, sage_parts(o), 2}},
          .saved = sum.saved(),
          .cost = {4.0 * double(o.in) * double(o.out), sum.gather_columns()},
          .gathers = true,
          .product_cols = sum.sends_products() ? o.out : 0,
          .rows_in_backward = sum.reads_rows_back()};
}

class Sage final : public FinishedLayer {
 public:
  explicit Sage(const LayerOptions& o) : FinishedLayer(o, sage_product(o)), sum_(o) {}

 private:
  void multiply(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView target,
                const Epilogue& finish) const override {
    OwnRows own(verbs.context(), input.rows);
    auto own_product = [&] {
      const auto [rows, due] = own.due(input.self, input_dropout().of_self(verbs));
      transform(verbs.context(), rows, due, self_weight(w.value(0)), target);
    };
    sum_.forward(verbs, input, own, neighbour_weight(w.value(0)), saved, {target, true}, finish, own_product);
  }
  /// Where the gradient comes in parts, half of W_self's parts are computed before W_neigh's, while rows of
  /// other ranks travel. The other half are computed after W_neigh's, while sums of these travel.
  void multiply_backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
                         MatrixView d_target, MatrixView scratch,
                         const LayerGradient& gradient) const override {
    Context& ctx = verbs.context();
    const Dropout dropout = input_dropout().of_self(verbs);
    const int parts = spec().parameters[0].parts, own_parts = (parts + 1) / 2, half = (own_parts + 1) / 2;
    auto own_weight = [&](int begin, int end) {
      if (parts > 1) return weight_backward_in_parts(ctx, input.self, dropout, d_target, w, begin, end);
      weight_backward(ctx, input.self, dropout, d_target, self_weight(w.gradient(0)));
    };
    auto first_half = [&] { own_weight(0, half); };
    sum_.backward(verbs, input, neighbour_weight(w.value(0)), saved, d_target, scratch,
                  neighbour_weight(w.gradient(0)), gradient, first_half);
    for (int part = own_parts; part < parts; ++part) w.part_is_done(part);
    if (half < own_parts) own_weight(half, own_parts);
    if (gradient.self.cols > 0)
      rows_backward(ctx, input_dropout().of_own_gradient(verbs), self_weight(w.value(0)), d_target,
                    gradient.self, true);
  }

  template <class T>
  View<T> self_weight(View<T> w) const {
    return w.slice_rows(0, options().in);
  }
  template <class T>
  View<T> neighbour_weight(View<T> w) const {
    return w.slice_rows(options().in, options().in);
  }

  NeighbourSum sum_;
};

std::unique_ptr<Layer> make_sage(const LayerOptions& options) {
  return std::make_unique<Sage>(options);
}

/// The aggregators are mean, meanWithSelf (mean over a graph with self-loops) and gcn (one weight for the
/// vertex and its neighbours).
Model make_sage(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const bool one_weight = spec.options.text("aggregator") == "gcn";
  Model model;
  model.layers = one_weight ? make_stack({make_conv, false}, spec, training, input)
                            : make_stack({make_sage, true, Init::kFanIn}, spec, training, input);
  return model;
}

}  // namespace

/// The aggregators meanWithSelf and gcn are this mean over a graph with self-loops. mean without self-loops
/// is that of older runs: now it keeps those of the data (job/load.h).
ModelKind sage_kind() {
  return {"sage", make_sage, [](const Options& options) -> GraphNeeds {
            const bool without_self = options.text("aggregator") == "mean";
            return {Normalisation::kMean, without_self ? SelfLoops::kRemove : SelfLoops::kAdd};
          }};
}

}  // namespace atl
