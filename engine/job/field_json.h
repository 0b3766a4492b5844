// Facts of a field's row as JSON, for the schemas that are made of the table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "job/field.h"

namespace atl {

/// What the field means, with its unit: "passes over the training vertices [epochs]".
std::string described(const Field& field);

/// The default where it is a constant, else null.
nlohmann::ordered_json default_json(const Field& field);

/// The names of its choices.
nlohmann::ordered_json choice_names(const Field& field);

/// 1e9 as 1000000000, 0.5 as 0.5.
nlohmann::ordered_json json_number(double value);

}  // namespace atl
