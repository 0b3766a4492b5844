// SIGN (Frasca et al. 2020, section 3, equations 2 and 3, with powers of Â alone). The features stand beside
// their powers, [X, ÂX, …, ÂʳX]. Each has its own weight, and a dense layer follows: Z = σ([XΘ₀, ÂXΘ₁, …,
// ÂʳXΘᵣ]), Y = ZΩ. σ is ReLU. Nothing is learned before the last sum over neighbours, so all sums are
// computed once.
#include "model/finished_layer.h"
#include "model/kinds.h"

namespace atl {
namespace {

/// out (dst, hops · hidden) = finish([drop(h₀)·Θ₀, …, drop(hᵣ)·Θᵣ]), where h = [h₀, …, hᵣ] are equally wide.
/// The weights (in, hidden) lie one below the other, and the gradient of each is a part.
class HopProducts final : public FinishedLayer {
 public:
  explicit HopProducts(const LayerOptions& o) : FinishedLayer(o, product_of(o)) {}

 private:
  static LayerSpec product_of(const LayerOptions& o) {
    const int hops = o.input_blocks;
    ParameterSpec weight = input_weight("weight", o);
    weight.cols = o.out / hops;
    weight.fan_in = o.of_whole() / hops;
    weight.parts = o.is_split() ? 1 : hops;
    return {.name = fmt::format("{} hops {} → {}", hops, o.in / hops, weight.cols),
            .parameters = {weight},
            .cost = {2.0 * double(o.in) * double(weight.cols), 0}};
  }
  Index hidden() const { return options().out / options().input_blocks; }

  void multiply(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved&, MatrixView target,
                const Epilogue& finish) const override {
    for_each_block(verbs, input.self, [&](const Rows& rows, const Dropout& dropout, int hop) {
      transform(verbs.context(), rows, dropout, w.value(0).slice_rows(hop * rows.cols(), rows.cols()),
                target.slice_cols(hop * hidden(), hidden()));
    });
    apply(verbs.context(), finish, target, target);
  }
  void multiply_backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved&,
                         MatrixView d_target, MatrixView, const LayerGradient& gradient) const override {
    const bool in_parts = spec().parameters[0].parts > 1;
    for_each_block(verbs, input.self, [&](const Rows& rows, const Dropout& dropout, int hop) {
      const Index begin = hop * rows.cols();
      const MatrixView d_rows =
          gradient.self.cols > 0 ? gradient.self.slice_cols(begin, rows.cols()) : MatrixView();
      transform_backward(verbs.context(), rows, dropout, w.value(0).slice_rows(begin, rows.cols()),
                         d_target.slice_cols(hop * hidden(), hidden()),
                         w.gradient(0).slice_rows(begin, rows.cols()), d_rows);
      if (in_parts) w.part_is_done(hop);
    });
  }
};

/// All powers count as features, which take no gradient.
LayerOptions hop_options(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input,
                         int hops) {
  LayerOptions o = dense_on_features(spec.hidden * hops, training, input);
  o.index = hops - 1;
  o.in *= hops, o.whole_in *= hops;
  o.input_blocks = hops;
  o.finish.norm = spec.norm;
  o.finish.activation = Activation::kRelu;
  o.decay = o.finish.decay = DecayGroup::kConvolution;
  return o;
}

Model make(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  ATOLL_CHECK(!input.packed_features, "powers of packed features aren't packed");
  const auto powers = int(spec.options.integer("hops"));
  LayerOptions hops = hop_options(spec, training, input, powers + 1);
  LayerOptions last;
  last.index = hops.index + 1;
  last.in = hops.out;
  last.out = input.classes;
  last.dropout = training.dropout;
  last.decay = last.finish.decay = DecayGroup::kDense;
  move_dropout_to_maker(hops, last, DropsOut::kMakers);  // none of its rows is another rank's
  Model model;
  for (int k = 0; k < powers; ++k)
    model.layers.push_back(
        make_propagate({.in = input.features * (k + 1), .appends = true, .first = input.features * k}));
  model.layers.push_back(std::make_unique<HopProducts>(hops));
  model.layers.push_back(make_dense(last));
  return model;
}

}  // namespace

ModelKind sign_kind() {
  return {"sign", make, [](const Options&) -> GraphNeeds {
            return {Normalisation::kSymmetric, SelfLoops::kAdd};
          }};
}

}  // namespace atl
