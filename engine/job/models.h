// The models by name, each with its own options: what `model.kind` and `model.options` may say, and what the
// rest of a manifest means for it. Pure: no kernels, so that the operator links it; the layers themselves are
// in model/. A new model is a file in models/ and a line in models/kinds.h.
#pragma once

#include <string>
#include <vector>

#include "job/field.h"
#include "job/option_field.h"

namespace atl {

struct ModelInfo {
  std::string kind;
  std::string description;
  std::string source;                  // the paper
  std::vector<Field> options{};        // paths "model.options.<name>"; model_option() makes one
  std::vector<std::string> ignores{};  // paths of fields that this model doesn't read
  std::vector<std::string> reads{};    // paths of fields that only models which list them here read
  std::string layers_option{};         // option that counts layers that read neighbours; "": model.layers
  bool drops_input_first = false;      // input dropout comes before the first layer, whatever that is
  /// Everything that it learns comes after its last sum over neighbours: it reads features dense, and nothing
  /// is dropped out before.
  bool aggregates_first = false;
  // whether self-loops of the data are arcs as any other; null: never
  bool (*keeps_loops)(const Options&) = nullptr;
  std::vector<OwnDefault> defaults{};      // of fields that every model has
  std::vector<std::string> also_called{};  // by other tools, in lower case
};

const std::vector<ModelInfo>& model_infos();

/// Null where no model is named so.
const ModelInfo* find_model(const std::string& kind);

/// How many layers read neighbours.
int gathering_layers(const ModelSpec& model);
/// What counts them: "model.layers", or the path of an option.
std::string layers_field(const ModelSpec& model);

/// The models that have the option at this path.
std::vector<std::string> models_with_option(const std::string& path);
/// The same in words, "sage or resgcn"; "" where none has.
std::string owners_of(const std::string& path);
/// The models that read a field which others don't (ModelInfo::reads).
std::vector<std::string> models_that_read(const std::string& path);
/// The models and strategies whose default for a field isn't the table's, "layer with resgcn and gin"; ""
/// where there are none.
std::string own_defaults(const Field& field);
/// Where these come from, "DeeperGCN's code (resgcn)"; "" where there are none.
std::string own_sources(const Field& field);

/// The models that sum over neighbours before they learn (ModelInfo::aggregates_first).
std::vector<std::string> models_that_aggregate_first();

/// What to say of another model's option; `kind` may be CEL's placeholder %s.
std::string option_of_another(const std::string& owners, const std::string& kind);

/// What the chart's admission rules ask of models, as YAML.
std::string models_for_chart();

}  // namespace atl
