// GCN (Kipf & Welling 2017): convolutions by Â = D^-½ (A + I) D^-½.
#include "model/stack.h"

namespace atl {

Model make_gcn(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  Model model;
  model.layers = make_stack({make_conv, false}, spec, training, input);
  return model;
}

}  // namespace atl
