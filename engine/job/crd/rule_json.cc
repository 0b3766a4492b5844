#include "job/crd/rule_json.h"

#include <nlohmann/json.hpp>

namespace atl {

nlohmann::ordered_json rule_json(const ServerRule& rule) {
  nlohmann::ordered_json json{{"rule", rule.right}};
  if (!rule.field.empty()) json["fieldPath"] = "." + rule.field;
  if (!rule.message.empty()) json["message"] = rule.message;
  if (!rule.message_expression.empty()) json["messageExpression"] = rule.message_expression;
  return json;
}

}  // namespace atl
