// Makes the field of an option from its name and default: shared by the tables of models and strategies.
#pragma once

#include <string>
#include <utility>

#include "job/field.h"

namespace atl {

enum class OptionOwner { kModel, kStrategy };

/// A field at `path` whose value lies in the owner's Options under option_name(). Its type follows
/// from the default's, unless `rest` has one: a text with choices is a choice.
Field option_field(OptionOwner owner, const std::string& kind, const std::string& path,
                   Options::Value initial, Field rest);

/// Of a strategy, at strategy.<kind>.<name>.
Field strategy_option(const std::string& kind, const std::string& name, Options::Value initial, Field rest);

// A default that a model or a strategy has instead of the field table's.

/// As a manifest would write it.
struct OwnDefault {
  std::string path;   // "model.norm", "training.optimizer.weightDecay.convolutions"
  std::string value;  // "layer"
  std::string source;
};

}  // namespace atl
