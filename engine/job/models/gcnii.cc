// Model gcnii, as manifests know it: its initial residual and identity mapping.
#include "job/models/kinds.h"

namespace atl {

/// No defaults of its own: the authors' depth and decay for Cora cost 5 to 9 points of validation elsewhere (docs/benchmarks/defaults.md).
ModelInfo gcnii_info() {
  const char* source = "Chen et al. 2020";
  std::vector<Field> options;
  options.push_back(model_option("gcnii", "alpha", 0.1,
                                 {.description = "share of the initial representation in each layer",
                                  .minimum = 0,
                                  .maximum = 1,
                                  .source = source}));
  options.push_back(model_option(
      "gcnii", "lambda", 0.5,
      {.description = "strength of the identity mapping: layer l weighs its weight matrix by ln(lambda "
                      "/ l + 1)",
       .minimum = 0,
       .source = source}));
  return {.kind = "gcnii",
          .description = "deep graph convolution with initial residual and identity mapping",
          .source = source,
          .options = std::move(options),
          .ignores = {kSkipConnections, kDenseLayers},
          .drops_input_first = true};  // of the encoder
}

}  // namespace atl
