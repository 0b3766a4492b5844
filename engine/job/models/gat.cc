// Model gat, as manifests know it: heads, and the slope of its scores.
#include "job/models/kinds.h"

namespace atl {

/// The width and the attention dropout are as published. The authors' other settings for Cora (dropout of
/// inputs and rows, weight decay, half the learning rate) aren't used: with them validation on tolokers falls
/// from 78 to 72 (docs/benchmarks/defaults.md).
ModelInfo gat_info() {
  const char* source = "Veličković et al. 2018";
  std::vector<Field> options;
  options.push_back(
      model_option("gat", "heads", std::int64_t{8},
                   {.description = "attention heads of hidden layers; model.hidden is the width of one head",
                    .minimum = 1,
                    .maximum = 256,
                    .source = source}));
  options.push_back(model_option(
      "gat", "outputHeads", std::int64_t{1},
      {.description = "heads of the last layer, averaged", .minimum = 1, .maximum = 256, .source = source}));
  options.push_back(model_option("gat", "negativeSlope", 0.2,
                                 {.description = "slope of LeakyReLU below zero, before the softmax",
                                  .minimum = 0,
                                  .maximum = 1,
                                  .source = source}));
  return {.kind = "gat",
          .description = "graph attention, ELU between layers",
          .source = source,
          .options = std::move(options),
          .ignores = {kDenseLayers},
          .reads = {"training.attentionDropout"},
          .drops_input_first = true,
          .defaults = {{"model.hidden", "8", source}, {"training.attentionDropout", "0.6", source}},
          .also_called = {"gatconv"}};
}

}  // namespace atl
