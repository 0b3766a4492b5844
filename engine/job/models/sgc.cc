// Model sgc, as manifests know it: hops instead of layers.
#include "job/models/kinds.h"

namespace atl {

ModelInfo sgc_info() {
  Field hops{.description = "propagations before the one linear layer",
             .minimum = 1,
             .maximum = 100,
             .source = "Wu et al. 2019"};
  return {.kind = "sgc",
          .description = "simplified graph convolution: propagate, then one linear layer",
          .source = "Wu et al. 2019",
          .options = {model_option("sgc", "hops", std::int64_t{2}, std::move(hops))},
          .ignores = {"model.layers", "model.hidden", "model.norm", kSkipConnections, kDenseLayers,
                      "training.dropout"},
          .layers_option = "hops"};
}

}  // namespace atl
