// The rows of `task` and `model`; the kinds and their options come from models.cc.
#include "job/fields.h"
#include "job/models.h"

namespace atl {
namespace {

std::vector<Choice> model_kinds() {
  std::vector<Choice> choices;
  for (const auto& info : model_infos())
    choices.push_back({info.kind, info.description + " (" + info.source + ")"});
  return choices;
}

}  // namespace

std::vector<Field> model_fields() {
  std::vector<Field> f;
  f.push_back({.path = "task",
               .type = FieldType::kChoice,
               .description = "what the model predicts",
               .slot = at([](Job & j) -> auto& { return j.task; }),
               .choices = {{"nodeClassification", "one class or several labels per vertex"},
                           {"linkPrediction", "which edges are missing"}}});
  f.push_back({.path = "model",
               .description = "the graph neural network",
               .required = true,
               .example = "model: {kind: gcn}"});
  f.push_back({.path = "model.kind",
               .type = FieldType::kChoice,
               .description = "the kind of convolution",
               .slot = at([](Job & j) -> auto& { return j.model.kind; }),
               .choices = model_kinds(),
               .required = true});
  f.push_back({.path = "model.layers",
               .type = FieldType::kInteger,
               .description = "number of convolutions",
               .slot = at([](Job & j) -> auto& { return j.model.layers; }),
               .minimum = 1,
               .maximum = 1000,
               .source = "Kipf & Welling 2017"});
  f.push_back({.path = "model.hidden",
               .type = FieldType::kInteger,
               .description = "width of hidden layers; with gat, width of each head",
               .slot = at([](Job & j) -> auto& { return j.model.hidden; }),
               .unit = "columns",
               .minimum = 1,
               .maximum = 65536});
  f.push_back({.path = "model.norm",
               .type = FieldType::kChoice,
               .description = "normalisation of hidden layers",
               .slot = at([](Job & j) -> auto& { return j.model.norm; }),
               .choices = {{"none", ""},
                           {"layer", "over the columns of each vertex"},
                           {"batch", "over the vertices of all ranks, each vertex counted once"}}});
  f.push_back({.path = "model.skipConnections",
               .type = FieldType::kFlag,
               .description = "add each layer's input to its output where their widths are equal",
               .slot = at([](Job & j) -> auto& { return j.model.skip_connections; })});
  f.push_back({.path = "model.denseLayers",
               .type = FieldType::kInteger,
               .description = "linear layers after the convolutions (PipeGCN uses 2 on Yelp)",
               .slot = at([](Job & j) -> auto& { return j.model.dense_layers; }),
               .minimum = 0,
               .maximum = 100});
  f.push_back({.path = "model.options", .description = "options of this kind of model"});
  for (const auto& info : model_infos()) {
    for (const auto& option : info.options) f.push_back(option);
  }
  return f;
}

}  // namespace atl
