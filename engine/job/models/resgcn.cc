// Model resgcn, as manifests know it: how its blocks aggregate.
#include "job/models/kinds.h"

namespace atl {

/// Layer norm is its own default, as in DeeperGCN's code for vertices (ogbn-arxiv and ogbn-proteins): blocks
/// begin with a norm, and without one some graphs aren't learned at all.
ModelInfo resgcn_info() {
  const char* source = "Li et al. 2020 (DeeperGCN)";
  std::vector<Field> options;
  options.push_back(model_option("resgcn", "aggregator", std::string("mean"),
                                 {.description = "how neighbours' rows are aggregated",
                                  .choices = {{"mean", "SAGE-mean inside each block (GraNNDis's ResGCN+)"},
                                              {"softmax", "softmax over neighbours of ReLU(h) (DeeperGCN)"}},
                                  .source = "GraNNDis's artifact"}));
  options.push_back(model_option("resgcn", "temperature", 0.1,
                                 {.description = "inverse temperature t of the softmax aggregation",
                                  .minimum = 0,
                                  .source = source,
                                  .used_with = {"model.options.aggregator", {"softmax"}}}));
  return {.kind = "resgcn",
          .description = "residual blocks of norm, ReLU, dropout, convolution, between linear layers",
          .source = source,
          .options = std::move(options),
          .ignores = {kSkipConnections, kDenseLayers},
          .drops_input_first = true,  // on the encoder's input
          .keeps_loops = [](const Options&) { return true; },
          .defaults = {{"model.norm", "layer", "Li et al. 2020, code"}},
          .also_called = {"deepergcn", "deepgcn"}};
}

}  // namespace atl
