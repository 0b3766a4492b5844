#include "operator/api/json_values.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {

std::optional<std::int64_t> integer_of(const nlohmann::json& object, const char* name) {
  const auto& value = member(object, name);
  if (!value.is_number_integer()) return {};
  return value.get<std::int64_t>();
}

std::optional<double> number_of(const nlohmann::json& object, const char* name) {
  const auto& value = member(object, name);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return {};
  return value.get<double>();
}

std::optional<Moment> moment_of(const nlohmann::json& object, const char* name) {
  return parse_moment(text_of(object, name));
}

const nlohmann::json& list_of(const nlohmann::json& object, const char* name) {
  static const nlohmann::json kNone = nlohmann::json::array();
  const auto& value = member(object, name);
  return value.is_array() ? value : kNone;
}

std::string bounded(const std::string& text, std::size_t most) {
  constexpr const char* kMore = "…";
  const std::string_view good = std::string_view(text).substr(0, find_invalid_utf8(text));
  if (good.size() <= most) return std::string(good);
  std::size_t end = most - std::string_view(kMore).size();
  while (end > 0 && (static_cast<unsigned char>(good[end]) & 0xc0) == 0x80) --end;
  return std::string(good.substr(0, end)) + kMore;
}

}  // namespace atl::ctl
