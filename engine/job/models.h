// The models by name, each with its own options: what `model.kind` and `model.options` may say. The layers
// themselves are in model/, one file each beside this table's line.
#pragma once

#include <string>
#include <vector>

#include "job/field.h"

namespace atl {

struct ModelInfo {
  std::string kind;
  std::string description;
  std::string source;                  // the paper
  std::vector<Field> options;          // paths "model.options.<name>"
  std::vector<std::string> ignores{};  // paths of fields that this model doesn't read
  std::string hops{};                  // option that counts layers that read neighbours; "": model.layers
};

const std::vector<ModelInfo>& model_infos();

/// Null where no model is named so.
const ModelInfo* find_model(const std::string& kind);

/// How many layers read neighbours.
int gathering_layers(const ModelSpec& model);
/// What counts them: "model.layers", or the path of an option.
std::string layers_field(const ModelSpec& model);

/// The models that have the option at this path, "sage or resgcn"; "" where none has.
std::string owners_of(const std::string& path);

/// What to say of another model's option; `kind` may be CEL's placeholder %s.
std::string option_of_another(const std::string& owners, const std::string& kind);

}  // namespace atl
