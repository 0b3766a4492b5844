#include "operator/api/condition_json.h"

#include <nlohmann/json.hpp>

#include "operator/api/json_values.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {

Condition read_condition(const nlohmann::json& object) {
  Condition condition;
  condition.type = text_of(object, "type");
  condition.holds = text_of(object, "status") == "True";
  condition.reason = text_of(object, "reason");
  condition.message = text_of(object, "message");
  condition.changed = moment_of(object, "lastTransitionTime").value_or(Moment{});
  condition.generation = integer_of(object, "observedGeneration").value_or(0);
  return condition;
}

nlohmann::ordered_json condition_json(const Condition& condition) {
  return {{"type", condition.type},
          {"status", condition.holds ? "True" : "False"},
          {"observedGeneration", condition.generation},
          {"lastTransitionTime", text_of(condition.changed)},
          {"reason", bounded(condition.reason, kLongestReason)},
          {"message", bounded(condition.message, kLongestMessage)}};
}

}  // namespace atl::ctl
