#include "operator_api/status_schema.h"

#include <algorithm>
#include <cstddef>

#include "base/json.h"
#include "job/crd/crd.h"
#include "operator/api/json_values.h"

namespace atl::ctl {
namespace {

using Schema = nlohmann::ordered_json;

bool is_of_type(const nlohmann::json& value, const Schema& schema) {
  if (schema.contains("x-kubernetes-int-or-string")) return value.is_string() || value.is_number_integer();
  const std::string type = schema.at("type");
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return value.is_string();
}

void judge(const nlohmann::json& value, const Schema& schema, const std::string& path, std::string& faults) {
  auto fault = [&](const std::string& what) { faults += path + ": " + what + "\n"; };
  if (!is_of_type(value, schema)) return fault("is of another type: " + value.dump());
  if (value.is_string()) {
    const std::string text = value;
    if (text.size() > schema.value("maxLength", std::size_t(100000))) fault("is too long");
    if (schema.value("format", "") == "date-time" && !parse_moment(text)) fault("is no time: " + text);
    if (schema.contains("enum") && std::ranges::count(schema.at("enum"), Schema(text)) == 0)
      fault("is not allowed: " + text);
  }
  if (value.is_number_integer() && schema.contains("minimum") && value < 0) fault("is negative");
  if (value.is_array()) {
    if (value.size() > schema.value("maxItems", std::size_t(100000))) fault("has too many items");
    for (const auto& item : value) judge(item, schema.at("items"), path + "[]", faults);
  }
  if (!value.is_object()) return;
  for (const auto& name : schema.value("required", Schema::array()))
    if (!value.contains(name)) fault("has no " + name.get<std::string>());
  for (const auto& [name, member] : value.items()) {
    if (!schema.at("properties").contains(name))
      fault(name + " is unknown");
    else
      judge(member, schema.at("properties").at(name), path + "." + name, faults);
  }
}

}  // namespace

testing::AssertionResult is_allowed_status(const std::string& status) {
  static const Schema schema = status_schema();
  std::string faults;
  judge(parse_json(status), schema, "status", faults);
  if (faults.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << faults << "in " << status;
}

}  // namespace atl::ctl
