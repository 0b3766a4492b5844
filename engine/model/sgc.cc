// SGC (Wu et al. 2019, section 2.2): K propagations and one linear layer. On dense features all K are
// computed once. Features that are packed, or dropped out before the aggregation, are transformed to
// `classes` columns first.
#include "model/kinds.h"

namespace atl {
namespace {

Model make_sgc(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const auto hops = int(spec.options.integer("hops"));
  LayerOptions linear = dense_on_features(input.classes, training, input);
  const bool dropped_before = training.input_dropout.rate > 0 &&
                              training.input_dropout.position == DropoutPosition::kBeforeAggregation;
  Model model;
  if (input.packed_features || dropped_before) {
    linear.index = 0;
    model.layers.push_back(make_dense(linear));
    for (int k = 0; k < hops; ++k) model.layers.push_back(make_propagate({input.classes}));
  } else {
    for (int k = 0; k < hops; ++k) model.layers.push_back(make_propagate({input.features}));
    linear.index = hops;
    model.layers.push_back(make_dense(linear));
  }
  return model;
}

}  // namespace

ModelKind sgc_kind() {
  return {"sgc", make_sgc, [](const Options&) -> GraphNeeds {
            return {Normalisation::kSymmetric, SelfLoops::kAdd};
          }};
}

}  // namespace atl
