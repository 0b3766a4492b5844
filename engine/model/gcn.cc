// GCN (Kipf & Welling 2017): convolutions by Â = D^-½ (A + I) D^-½.
#include "model/kinds.h"

namespace atl {
namespace {

Model make_gcn(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  Model model;
  model.layers = make_stack({make_conv, false}, spec, training, input);
  return model;
}

}  // namespace

ModelKind gcn_kind() {
  return {"gcn", make_gcn, [](const Options&) -> GraphNeeds {
            return {Normalisation::kSymmetric, SelfLoops::kAdd};
          }};
}

}  // namespace atl
