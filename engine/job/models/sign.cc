// Model sign, as manifests know it: hops instead of layers, all of them before anything learned.
#include "job/models/kinds.h"

namespace atl {

ModelInfo sign_info() {
  const char* source = "Frasca et al. 2020";
  return {.kind = "sign",
          .description =
              "the features and their sums over neighbours, 1 to r hops away, computed once; then a "
              "weight for each, side by side, and a dense layer",
          .source = source,
          .options = {hops_option("sign", 3, source)},
          .ignores = {"model.layers", kSkipConnections, kDenseLayers},
          .layers_option = "hops",
          .aggregates_first = true};
}

}  // namespace atl
