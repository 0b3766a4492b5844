// Model sign, as manifests know it: hops instead of layers. All hops come before the first learned layer.
#include "job/models/kinds.h"

namespace atl {

ModelInfo sign_info() {
  const char* source = "Frasca et al. 2020";
  Field hop_layers{.description = "linear layers of each hop, before the hops are concatenated",
                   .minimum = 1,
                   .maximum = 100,
                   .source = source};
  return {.kind = "sign",
          .description =
              "the features and their sums over neighbours, 1 to r hops away, computed once; then a "
              "weight for each, side by side, and a dense layer (model.denseLayers: more of them before it)",
          .source = source,
          .options = {hops_option("sign", 3, source),
                      model_option("sign", "hopLayers", std::int64_t{1}, std::move(hop_layers))},
          .ignores = {"model.layers", kSkipConnections},
          .layers_option = "hops",
          .aggregates_first = true};
}

}  // namespace atl
