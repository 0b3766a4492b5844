// Model sgc, as manifests know it: hops instead of layers.
#include "job/models/kinds.h"

namespace atl {

/// SGC's own learning rate is 0.2. At the usual rate the one linear layer is far from converged after 200
/// epochs; 0.2 validates 1 to 2 points higher on cora, amazon_computers and tolokers.
ModelInfo sgc_info() {
  return {.kind = "sgc",
          .description = "simplified graph convolution: propagate, then one linear layer",
          .source = "Wu et al. 2019",
          .options = {hops_option("sgc", 2, "Wu et al. 2019")},
          .ignores = {"model.layers", "model.hidden", "model.norm", kSkipConnections, kDenseLayers,
                      "training.dropout"},
          .layers_option = "hops",
          .defaults = {{"training.optimizer.learningRate", "0.2", "Wu et al. 2019"}},
          .also_called = {"sgconv"}};
}

}  // namespace atl
