// Model gin, as manifests know it: epsilon, and the norm that its sums want.
#include "job/models/kinds.h"

namespace atl {

/// Layer norm is its own default, because sums grow with the number of neighbours: without a norm GIN reaches
/// 39 % instead of 83 % on amazon_computers. The authors use batch norm, for classifying whole graphs; on
/// Cora's 140 training vertices it costs 8 points.
ModelInfo gin_info() {
  const char* source = "Xu et al. 2019";
  Field epsilon{.description = "a vertex's own row counts 1 + epsilon times in the sum", .source = source};
  return {.kind = "gin",
          .description = "graph isomorphism network: a multilayer perceptron of the sum over neighbours",
          .source = source,
          .options = {model_option("gin", "epsilon", 0.0, std::move(epsilon))},
          .ignores = {kSkipConnections},  // skips would go around only half of a convolution
          .keeps_loops = [](const Options&) { return true; },
          .defaults = {{"model.norm", "layer", "docs/benchmarks/defaults.md"}},
          .also_called = {"ginconv"}};
}

}  // namespace atl
