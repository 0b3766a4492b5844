#include "job/field_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "job/models.h"

namespace atl {

using Json = nlohmann::ordered_json;

std::string described(const Field& field) {
  return field.description + (field.unit.empty() ? "" : " [" + field.unit + "]");
}

Json default_json(const Field& field) {
  if (!field.slot || field.required || !field.default_text.empty() || !own_defaults(field).empty())
    return nullptr;
  const std::string text = default_of(field);
  if (text.empty()) return nullptr;
  const bool quoted = field.type == FieldType::kText || field.type == FieldType::kChoice;
  if (quoted) return text;
  const Json value = Json::parse(text);
  return value.is_number_float() ? json_number(value.get<double>()) : value;
}

Json choice_names(const Field& field) {
  Json names = Json::array();
  for (const auto& choice : field.choices) names.push_back(choice.name);
  return names;
}

Json json_number(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (value == std::floor(value) && std::abs(value) <= kExact) return std::int64_t(value);
  return value;
}

}  // namespace atl
