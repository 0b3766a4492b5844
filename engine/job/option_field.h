// Makes the field of an option from its name and default, for the tables of models and strategies.
#pragma once

#include <string>
#include <utility>

#include "job/field.h"

namespace atl {

enum class OptionOwner { kModel, kStrategy };

/// A field at `path` whose value lies in the owner's Options under option_name(). Its type follows from the
/// default's unless `rest` has one; a text with choices is a choice.
Field option_field(OptionOwner owner, const std::string& kind, const std::string& path,
                   Options::Value initial, Field rest);

/// A strategy's option, at strategy.<kind>.<name>.
Field strategy_option(const std::string& kind, const std::string& name, Options::Value initial, Field rest);

// A default by which a model or a strategy replaces the field table's.

/// The value is written as in a manifest.
struct OwnDefault {
  std::string path;   // "model.norm", "training.optimizer.weightDecay.convolutions"
  std::string value;  // "layer"
  std::string source;
};

}  // namespace atl
