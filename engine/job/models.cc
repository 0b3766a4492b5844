#include "job/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "job/option_field.h"

namespace atl {
namespace {

// Dense layers at the end are for stacks of equal layers alone; residual models have their own connections.
const std::string kSkipConnections = "model.skipConnections", kDenseLayers = "model.denseLayers";

Field option(const std::string& kind, const std::string& name, Options::Value initial, Field rest) {
  return option_field(OptionOwner::kModel, kind, "model.options." + name, std::move(initial),
                      std::move(rest));
}

ModelInfo gcn() {
  return {
      "gcn", "graph convolution, symmetric normalisation D^-1/2 (A + I) D^-1/2", "Kipf & Welling 2017", {}};
}

ModelInfo sage() {
  Field aggregator{.description = "how neighbours' rows are aggregated",
                   .choices = {{"mean", "W1 h + W2 mean(neighbours) (PyG, OGB)"},
                               {"meanWithSelf", "W1 h + W2 mean(neighbours and the vertex itself) (PipeGCN)"},
                               {"gcn", "W mean(neighbours and the vertex itself) (DGL)"}},
                   .source = "PyG and OGB"};
  return {"sage",
          "GraphSAGE, full neighbourhoods",
          "Hamilton et al. 2017",
          {option("sage", "aggregator", std::string("mean"), std::move(aggregator))}};
}

ModelInfo gat() {
  const char* source = "Veličković et al. 2018";
  std::vector<Field> options;
  options.push_back(
      option("gat", "heads", std::int64_t{8},
             {.description = "attention heads of hidden layers; model.hidden is the width of one head",
              .minimum = 1,
              .maximum = 256,
              .source = source}));
  options.push_back(option(
      "gat", "outputHeads", std::int64_t{1},
      {.description = "heads of the last layer, averaged", .minimum = 1, .maximum = 256, .source = source}));
  options.push_back(option("gat", "negativeSlope", 0.2,
                           {.description = "slope of LeakyReLU below zero, before the softmax",
                            .minimum = 0,
                            .maximum = 1,
                            .source = source}));
  return {"gat", "graph attention, ELU between layers", source, std::move(options), {kDenseLayers}};
}

ModelInfo gcnii() {
  const char* source = "Chen et al. 2020";
  std::vector<Field> options;
  options.push_back(option("gcnii", "alpha", 0.1,
                           {.description = "share of the initial representation in each layer",
                            .minimum = 0,
                            .maximum = 1,
                            .source = source}));
  options.push_back(option(
      "gcnii", "lambda", 0.5,
      {.description = "strength of the identity mapping: layer l weighs its weight matrix by ln(lambda "
                      "/ l + 1)",
       .minimum = 0,
       .source = source}));
  return {"gcnii",
          "deep graph convolution with initial residual and identity mapping",
          source,
          std::move(options),
          {kSkipConnections, kDenseLayers}};
}

ModelInfo resgcn() {
  const char* source = "Li et al. 2020 (DeeperGCN)";
  std::vector<Field> options;
  options.push_back(option("resgcn", "aggregator", std::string("mean"),
                           {.description = "how neighbours' rows are aggregated",
                            .choices = {{"mean", "SAGE-mean inside each block (GraNNDis's ResGCN+)"},
                                        {"softmax", "softmax over neighbours of ReLU(h) (DeeperGCN)"}},
                            .source = "GraNNDis's artifact"}));
  options.push_back(option("resgcn", "temperature", 0.1,
                           {.description = "inverse temperature t of the softmax aggregation",
                            .minimum = 0,
                            .source = source,
                            .used_with = {"model.options.aggregator", {"softmax"}}}));
  return {"resgcn",
          "residual blocks of norm, ReLU, dropout, convolution, between linear layers",
          source,
          std::move(options),
          {kSkipConnections, kDenseLayers}};
}

ModelInfo sgc() {
  Field hops{.description = "propagations before the one linear layer",
             .minimum = 1,
             .maximum = 100,
             .source = "Wu et al. 2019"};
  return {"sgc",
          "simplified graph convolution: propagate, then one linear layer",
          "Wu et al. 2019",
          {option("sgc", "hops", std::int64_t{2}, std::move(hops))},
          {"model.layers", "model.hidden", "model.norm", kSkipConnections, kDenseLayers, "training.dropout"},
          "hops"};
}

}  // namespace

const std::vector<ModelInfo>& model_infos() {
  static const std::vector<ModelInfo> infos{gcn(), sage(), gat(), gcnii(), resgcn(), sgc()};
  return infos;
}

const ModelInfo* find_model(const std::string& kind) {
  for (const auto& info : model_infos()) {
    if (info.kind == kind) return &info;
  }
  return nullptr;
}

int gathering_layers(const ModelSpec& model) {
  const ModelInfo* info = find_model(model.kind);
  return info == nullptr || info->hops.empty() ? model.layers : int(model.options.integer(info->hops));
}

std::string layers_field(const ModelSpec& model) {
  const ModelInfo* info = find_model(model.kind);
  return info == nullptr || info->hops.empty() ? "model.layers" : "model.options." + info->hops;
}

std::string owners_of(const std::string& path) {
  std::vector<std::string> owners;
  for (const auto& info : model_infos()) {
    if (std::ranges::find(info.options, path, &Field::path) != info.options.end())
      owners.push_back(info.kind);
  }
  return fmt::format("{}", fmt::join(owners, " or "));
}

std::string option_of_another(const std::string& owners, const std::string& kind) {
  return "is an option of " + owners + "; this model is " + kind + " (remove the option)";
}

}  // namespace atl
