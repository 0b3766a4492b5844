// The table of models as the engine makes them. A new model needs a file in this folder, its function here,
// and its place in the table. What a manifest may say of each is in job/models/.
#pragma once

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

}  // namespace atl
