// SIGN (Frasca et al. 2020, section 3, equations 2 and 3, with powers of Â alone). The features stand beside
// their powers, [X, ÂX, …, ÂʳX]. Each has its own weight, and a dense layer follows: Z = σ([XΘ₀, ÂXΘ₁, …,
// ÂʳXΘᵣ]), Y = ZΩ. σ is ReLU. Nothing is learned before the last sum over neighbours, so all sums are
// computed once. In its entries on OGB's leaderboards each hop has several products one behind the other
// (hopLayers), and Ω is several dense layers (denseLayers).
#include "model/finished_layer.h"
#include "model/kinds.h"

namespace atl {
namespace {

/// out (dst, hops · hidden) = finish([drop(h₀)·Θ₀, …, drop(hᵣ)·Θᵣ]), where h = [h₀, …, hᵣ] are equally wide.
/// The weights (in, hidden) lie one below the other. With a fixed input, no computation follows that could
/// hide the sum of the gradient over ranks. So the gradient of each weight is a part, which travels while the
/// next one is computed.
class HopProducts final : public FinishedLayer {
 public:
  explicit HopProducts(const LayerOptions& o) : FinishedLayer(o, product_of(o)) {}

 private:
  static LayerSpec product_of(const LayerOptions& o) {
    const int hops = o.input_blocks;
    ParameterSpec weight = input_weight("weight", o);
    weight.cols = o.out / hops;
    weight.fan_in = o.of_whole() / hops;
    weight.parts = o.fixed_input && !o.is_split() ? hops : 1;
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

RowFinish::Options hidden_finish(const ModelSpec& spec, DecayGroup decay) {
  RowFinish::Options finish;
  finish.norm = spec.norm;
  finish.activation = Activation::kRelu;
  finish.decay = decay;
  return finish;
}

/// All powers count as features, which take no gradient.
LayerOptions first_products(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input,
                            int blocks) {
  LayerOptions o = dense_on_features(spec.hidden * blocks, training, input);
  o.index = blocks - 1;
  o.in *= blocks, o.whole_in *= blocks;
  o.input_blocks = blocks;
  o.finish = hidden_finish(spec, DecayGroup::kConvolution);
  o.decay = DecayGroup::kConvolution;
  return o;
}

/// A layer on the output of `before`, whose rows are this rank's alone.
LayerOptions layer_behind(LayerOptions& before, Index out, const TrainingSpec& training) {
  LayerOptions o;
  o.index = before.index + 1;
  o.in = before.out;
  o.out = out;
  o.dropout = training.dropout;
  move_dropout_to_maker(before, o, DropsOut::kMakers);
  return o;
}

Model make_sign(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  ATOLL_CHECK(!input.packed_features, "powers of packed features aren't packed");
  const auto powers = int(spec.options.integer("hops")), depth = int(spec.options.integer("hopLayers"));
  std::vector<LayerOptions> layers{first_products(spec, training, input, powers + 1)};
  for (int l = 1; l < depth; ++l) {
    LayerOptions o = layer_behind(layers.back(), layers.back().out, training);
    o.input_blocks = powers + 1;
    o.finish = hidden_finish(spec, DecayGroup::kConvolution);
    o.decay = DecayGroup::kConvolution;
    layers.push_back(o);
  }
  for (int l = 0; l <= spec.dense_layers; ++l) {
    const bool last = l == spec.dense_layers;
    LayerOptions o = layer_behind(layers.back(), last ? input.classes : spec.hidden, training);
    if (!last) o.finish = hidden_finish(spec, DecayGroup::kDense);
    o.decay = o.finish.decay = DecayGroup::kDense;
    layers.push_back(o);
  }
  Model model;
  for (int k = 0; k < powers; ++k)
    model.layers.push_back(
        make_propagate({.in = input.features * (k + 1), .appends = true, .first = input.features * k}));
  for (int l = 0; l < int(layers.size()); ++l)
    model.layers.push_back(l < depth ? std::make_unique<HopProducts>(layers[std::size_t(l)])
                                     : make_dense(layers[std::size_t(l)]));
  return model;
}

}  // namespace

ModelKind sign_kind() {
  return {"sign", make_sign, [](const Options&) -> GraphNeeds {
            return {Normalisation::kSymmetric, SelfLoops::kAdd};
          }};
}

}  // namespace atl
