// Model sage, as manifests know it: how neighbours are aggregated.
#include "job/models/kinds.h"

namespace atl {

ModelInfo sage_info() {
  Field aggregator{.description = "how neighbours' rows are aggregated",
                   .choices = {{"mean", "W1 h + W2 mean(neighbours) (PyG, OGB)"},
                               {"meanWithSelf", "W1 h + W2 mean(neighbours and the vertex itself) (PipeGCN)"},
                               {"gcn", "W mean(neighbours and the vertex itself) (DGL)"}},
                   .source = "PyG and OGB"};
  return {.kind = "sage",
          .description = "GraphSAGE, full neighbourhoods",
          .source = "Hamilton et al. 2017",
          .options = {model_option("sage", "aggregator", std::string("mean"), std::move(aggregator))},
          .keeps_loops = [](const Options& options) { return options.text("aggregator") == "mean"; },
          .also_called = {"graphsage", "sageconv"}};
}

}  // namespace atl
