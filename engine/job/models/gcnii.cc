// Model gcnii, as manifests know it: its initial residual and identity mapping.
#include "job/models/kinds.h"

namespace atl {

/// GCNII's own defaults are 10 layers, weight decay for the encoder and the classifier, and clipped
/// gradients, since single steps overshoot at this depth. The authors' 64 layers, and their decay of the
/// convolutions, cost up to 9 points of validation on data sets other than Cora
/// (docs/benchmarks/defaults.md).
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
          .drops_input_first = true,  // on the encoder's input
          .defaults = {{"model.layers", "10", "docs/benchmarks/defaults.md"},
                       {"training.optimizer.weightDecay.dense", "0.0005", source},
                       {"training.optimizer.clipNorm", "1", "docs/benchmarks/defaults.md"}},
          .also_called = {"gcn2", "gcn2conv"}};
}

}  // namespace atl
