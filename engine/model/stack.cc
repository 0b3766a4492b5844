// Models that are stacks of like convolutions.
#include "model/kinds.h"

namespace atl {
namespace {

/// The layers in order, before dropout is moved to the layers that make rows.
struct Sketch {
  LayerOptions options;
  bool dense = false;
};

/// The second layer of a two-layer perceptron. It follows the convolution's product, whose width becomes
/// `hidden`.
LayerOptions second_of_mlp(LayerOptions& first, const ModelSpec& spec) {
  LayerOptions second = first;
  first.out = second.in = spec.hidden;
  first.finish.norm = spec.norm;
  first.finish.activation = Activation::kRelu;
  second.whole_in = 0;
  second.packed_input = second.fixed_input = false;
  first.skip = second.skip = false;  // it would go around only half of the convolution
  second.dropout = 0;
  second.own_row = 0;
  second.fan_in = second.finish.bias_fan_in = second.in;
  return second;
}

std::vector<Sketch> sketch(const StackPlan& plan, const ModelSpec& spec, const TrainingSpec& training,
                           const ModelInput& input) {
  const int total = spec.layers + spec.dense_layers;
  std::vector<Sketch> all;
  for (int l = 0; l < total; ++l) {
    const bool last = l + 1 == total;
    LayerOptions o;
    o.in = l == 0 ? input.features : spec.hidden;
    o.whole_in = l == 0 ? input.whole_features : 0;
    o.out = last ? input.classes : spec.hidden;
    o.packed_input = l == 0 && input.packed_features;
    o.fixed_input = l == 0;
    o.sends_products = input.sends_products && l > 0;
    o.dropout = l == 0 ? training.input_dropout.rate : training.dropout;
    o.dropout_purpose = l == 0 ? Purpose::kInputDropout : Purpose::kDropout;
    o.finish.norm = last ? Norm::kNone : spec.norm;
    o.finish.activation = last ? Activation::kNone : Activation::kRelu;
    o.skip = spec.skip_connections && l > 0 && o.in == o.out;
    const bool dense = l >= spec.layers;
    if (!dense) o.init = plan.init, o.fan_in = o.of_whole(), o.own_row = plan.own_row;
    if (o.init == Init::kFanIn) o.finish.bias_init = o.init, o.finish.bias_fan_in = o.of_whole();
    o.decay = o.finish.decay = dense ? DecayGroup::kDense : DecayGroup::kConvolution;
    if (dense || !plan.mlp) {
      all.push_back({o, dense});
      continue;
    }
    const LayerOptions second = second_of_mlp(o, spec);
    all.push_back({o, false});
    all.push_back({second, true});
  }
  return all;
}

/// Lets the layer read [h, Âh] instead of h. Its weight is as in sage.cc, one half above the other.
void double_input(LayerOptions& options) {
  options.in *= 2, options.whole_in *= 2;
  options.input_blocks = 2;
}

}  // namespace

LayerOptions dense_on_features(Index out, const TrainingSpec& training, const ModelInput& input) {
  LayerOptions o;
  o.in = input.features;
  o.whole_in = input.whole_features;
  o.out = out;
  o.packed_input = input.packed_features;
  o.fixed_input = true;
  o.dropout = training.input_dropout.rate;
  o.dropout_purpose = Purpose::kInputDropout;
  o.decay = o.finish.decay = DecayGroup::kDense;
  return o;
}

void move_dropout_to_maker(LayerOptions& maker, LayerOptions& reader, DropsOut drops_out) {
  if (reader.skip || reader.dropout == 0 || drops_out == DropsOut::kReaders) return;
  const bool shared = drops_out == DropsOut::kMakersAndReaders;
  if (shared && reader.sends_products) return;
  maker.finish.dropout = reader.dropout;
  maker.finish.dropout_purpose = reader.dropout_purpose;
  maker.finish.dropout_layer = reader.index;
  maker.finish.spares_boundary = reader.own_dropped = shared;
  if (!shared) reader.dropout = 0;
}

std::vector<std::unique_ptr<Layer>> make_stack(const StackPlan& plan, const ModelSpec& spec,
                                               const TrainingSpec& training, const ModelInput& input) {
  const bool dropped_before = training.input_dropout.rate > 0 &&
                              training.input_dropout.position == DropoutPosition::kBeforeAggregation;
  const bool precompute = !input.packed_features && !dropped_before && spec.layers > 0;
  std::vector<Sketch> all = sketch(plan, spec, training, input);
  std::vector<std::unique_ptr<Layer>> layers;
  if (precompute) {
    layers.push_back(make_propagate({input.features, plan.propagate_self, plan.own_row}));
    all[0].dense = true;
    if (plan.propagate_self) double_input(all[0].options);
  }
  for (std::size_t l = 0; l < all.size(); ++l) all[l].options.index = int(l) + (precompute ? 1 : 0);
  for (std::size_t l = 1; l < all.size(); ++l) {
    const bool own_alone = all[l].dense && input.drops_out == DropsOut::kMakersAndReaders;
    move_dropout_to_maker(all[l - 1].options, all[l].options,
                          own_alone ? DropsOut::kMakers : input.drops_out);
  }
  for (const Sketch& s : all) layers.push_back(s.dense ? make_dense(s.options) : plan.convolution(s.options));
  return layers;
}

}  // namespace atl
