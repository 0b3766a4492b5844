// The table of models as the engine makes them. A new model needs a file in this folder, its function here,
// and its place in the table. What a manifest may say of each is in job/models/.
#pragma once

#include "model/conv.h"
#include "model/model.h"

namespace atl {

struct ModelKind {
  const char* kind;  // its name in job/models/
  Model (*make)(const ModelSpec&, const TrainingSpec&, const ModelInput&);
  GraphNeeds (*needs)(const Options&);
};

ModelKind gcn_kind(), sage_kind(), gat_kind(), gcnii_kind(), resgcn_kind(), sgc_kind(), gin_kind(),
    sign_kind();

inline constexpr ModelKind (*kModelKinds[])() = {
    gcn_kind, sage_kind, gat_kind, gcnii_kind, resgcn_kind, sgc_kind, gin_kind, sign_kind,
};

// Models that are stacks of like convolutions: widths, dropout, norms, the precomputed first aggregation, and
// trailing dense layers.

struct StackPlan {
  std::unique_ptr<Layer> (*convolution)(const LayerOptions&);
  bool propagate_self = false;  // the precomputed form reads [h, Âh] (SAGE) instead of Âh
  Init init = Init::kGlorot;    // of the convolutions, and with kFanIn of their biases
  Real own_row = 0;             // LayerOptions::own_row, of the convolutions and of the precomputed form
  bool mlp = false;  // norm, ReLU and a second product follow each convolution's product (GIN's MLP)
};

/// spec.layers convolutions, then spec.dense_layers dense ones. The very last has `classes` outputs and
/// neither norm nor activation. The first aggregation is a layer of its own, computed once, where the
/// features are dense and not dropped out before it (dropout(ÂX) ≠ Â·dropout(X)).
std::vector<std::unique_ptr<Layer>> make_stack(const StackPlan& plan, const ModelSpec& spec,
                                               const TrainingSpec& training, const ModelInput& input);

/// A dense layer of `out` columns on the features: GCNII's and ResGCN+'s encoder, SGC's one layer.
LayerOptions dense_on_features(Index out, const TrainingSpec& training, const ModelInput& input);

/// Moves the dropout of the reader's input into the maker's finish, which saves a copy, if `drops_out` allows
/// it. The reader keeps the dropout where it also needs the rows as they are (skip), or where it sends
/// products of dropped-out rows to ranks that drop out what they read.
void move_dropout_to_maker(LayerOptions& maker, LayerOptions& reader, DropsOut drops_out);

}  // namespace atl
