// How a record's values are written as JSON.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "train/telemetry/record.h"

namespace atl {

// ordered_json keeps keys as they are written here, which is how people read them.
using Json = nlohmann::ordered_json;

/// Text that isn't UTF-8 (a path, a host's name) gets replacement characters instead of an exception.
inline std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

inline Json number_json(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
inline Json number_json(const std::optional<double>& value) {
  return value ? number_json(*value) : Json(nullptr);
}
inline Json bytes_json(const EpochRecord& epoch) {
  return {{"intra", epoch.bytes_intra}, {"inter", epoch.bytes_inter}};
}

}  // namespace atl
