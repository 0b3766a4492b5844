// `atoll explain`: the field table as text and as JSON schema.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "job/field.h"

namespace atl {

/// The type, unit, default with its source, and allowed values of `path` ("training.optimizer",
/// "model.options.alpha"; "" = the whole manifest); for an object, the fields in it. Throws Error naming the
/// nearest path.
std::string explain(const std::string& path);

/// explain() of `path` and of every field below it.
std::string explain_all(const std::string& path);

/// The JSON schema (2020-12) of a GNNJob, from the same table.
std::string json_schema();

/// The field's description with its unit: "passes over the training vertices [epochs]".
std::string described(const Field& field);

/// The default where it is constant, otherwise null.
nlohmann::ordered_json default_json(const Field& field);

/// The names of the field's choices.
nlohmann::ordered_json choice_names(const Field& field);

/// 1e9 as 1000000000, 0.5 as 0.5.
nlohmann::ordered_json json_number(double value);

}  // namespace atl
