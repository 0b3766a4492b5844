// The table of models, with their options. It says what `model.kind` and `model.options` may be, and what
// follows for the rest of a manifest. There are no kernels here, so that the operator can link it; the layers
// are in model/. A new model is a file in models/ and a line in models/kinds.h.
#pragma once

#include <string>
#include <vector>

#include "job/field.h"

namespace atl {

struct ModelInfo {
  std::string kind;
  std::string description;
  std::string source;                  // the paper
  std::vector<Field> options{};        // paths "model.options.<name>"; model_option() makes one
  std::vector<std::string> ignores{};  // paths of fields that the model doesn't read
  std::vector<std::string> reads{};    // paths of fields that only models that list them here read
  std::string layers_option{};         // the option that counts gathering layers; "": model.layers does
  bool drops_input_first = false;      // input dropout comes before the very first layer
  /// Whether all learned layers follow the model's last sum over neighbours. Such a model needs dense
  /// features that aren't dropped out before that sum.
  bool aggregates_first = false;
  // whether the data's self-loops are arcs like any other; null: never
  bool (*keeps_loops)(const Options&) = nullptr;
  std::vector<OwnDefault> defaults{};      // its own defaults of common fields
  std::vector<std::string> also_called{};  // other tools' names for it, in lower case
};

const std::vector<ModelInfo>& model_infos();

/// Null where no model has this name.
const ModelInfo* find_model(const std::string& kind);

/// How many layers read neighbours.
int gathering_layers(const ModelSpec& model);
/// The field that counts these layers: "model.layers", or the path of an option.
std::string layers_field(const ModelSpec& model);

/// The models that have the option at this path.
std::vector<std::string> models_with_option(const std::string& path);
/// The same models in words, "sage or resgcn"; "" without any.
std::string owners_of(const std::string& path);
/// The models that read a field which other models don't (ModelInfo::reads).
std::vector<std::string> models_that_read(const std::string& path);
/// The models and strategies whose default for a field differs from the table's, "layer with resgcn and gin";
/// "" without any.
std::string own_defaults(const Field& field);
/// The sources of these defaults, "DeeperGCN's code (resgcn)"; "" without any.
std::string own_sources(const Field& field);

/// The models that sum over neighbours before they learn (ModelInfo::aggregates_first).
std::vector<std::string> models_that_aggregate_first();

/// The complaint about another model's option; `kind` may be CEL's placeholder %s.
std::string option_of_another(const std::string& owners, const std::string& kind);

}  // namespace atl
