// One field that holds a value → its structural schema (OpenAPI v3 as CustomResourceDefinitions have it).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "job/field.h"

namespace atl {

/// With description, bounds, enum or range; without default and rules.
nlohmann::ordered_json leaf_schema(const Field& field);

/// What a scalar in an object's place must be, where `member` is the first that it sets. No type can be said there,
/// so each kind of value that isn't meant is refused by a bound that it can't meet.
nlohmann::ordered_json shorthand_schema(const Field& member);

}  // namespace atl
