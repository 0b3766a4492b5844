// How the models that are stacks of like convolutions are laid out: widths, dropout, norms, the precomputed
// first aggregation, and trailing dense layers.
#pragma once

#include "model/conv.h"
#include "model/model.h"

namespace atl {

struct StackPlan {
  std::unique_ptr<Layer> (*convolution)(const LayerOptions&);
  bool propagate_self = false;  // the precomputed form reads [h, Âh] (SAGE) instead of Âh
  Init init = Init::kGlorot;    // of the convolutions; kFanIn: their biases too
  Real own_row = 0;             // LayerOptions::own_row of the convolutions, and of the precomputed form
  bool mlp = false;  // each convolution's product is followed by norm, ReLU and a second one (GIN's MLP)
};

/// spec.layers convolutions, then spec.dense_layers dense ones; the last of all has `classes` outputs and
/// neither norm nor activation. The first aggregation becomes a layer of its own, computed once, where the
/// features are dense and not dropped out before it (dropout(ÂX) ≠ Â·dropout(X)).
std::vector<std::unique_ptr<Layer>> make_stack(const StackPlan& plan, const ModelSpec& spec,
                                               const TrainingSpec& training, const ModelInput& input);

/// A dense layer of `out` columns on the features: GCNII's and ResGCN+'s encoder, SGC's one layer.
LayerOptions dense_on_features(Index out, const TrainingSpec& training, const ModelInput& input);

/// Lets the finish of the layer that makes rows apply the dropout of the one that reads them, so that no copy
/// is made, where `drops_out` says so; unless that one needs the rows as they are too (skip), or sends
/// products of them that are dropped out before.
void move_dropout_to_maker(LayerOptions& maker, LayerOptions& reader, DropsOut drops_out);

}  // namespace atl
