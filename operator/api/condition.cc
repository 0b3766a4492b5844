#include "operator/api/condition.h"

#include <algorithm>

#include "base/json.h"
#include "operator/api/json_values.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {

const Condition* find_condition(const std::vector<Condition>& conditions, const std::string& type) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

bool holds(const std::vector<Condition>& conditions, const std::string& type) {
  const Condition* found = find_condition(conditions, type);
  return found && found->holds;
}

bool has_ended(const std::vector<Condition>& conditions) {
  return holds(conditions, kSucceeded) || holds(conditions, kFailed);
}

void set_condition(std::vector<Condition>& conditions, Condition condition) {
  if (has_ended(conditions)) return;
  const auto found = std::ranges::find(conditions, condition.type, &Condition::type);
  if (found == conditions.end()) {
    conditions.push_back(std::move(condition));
    return;
  }
  if (found->holds == condition.holds) condition.changed = found->changed;
  *found = std::move(condition);
}

namespace {

bool is_refused(const Condition& created) {
  return !created.holds && created.reason != kPreparing;
}

}  // namespace

const Condition* telling_condition(const std::vector<Condition>& conditions) {
  for (const char* type : {kFailed, kSucceeded, kSuspended, kRestarting, kRunning, kPlaced})
    if (holds(conditions, type)) return find_condition(conditions, type);
  const Condition *created = find_condition(conditions, kCreated),
                  *placed = find_condition(conditions, kPlaced);
  return placed && !(created && is_refused(*created)) ? placed : created;
}

std::optional<Moment> finds_no_room_since(const std::vector<Condition>& conditions) {
  const Condition* placed = find_condition(conditions, kPlaced);
  if (!placed || placed->holds || placed->reason != kNoRoom) return {};
  Moment since = placed->changed;  // may be when the job began
  for (const Condition& other : conditions)
    if (other.type == kSuspended || (other.type == kCreated && other.holds))
      since = std::max(since, other.changed);
  return since;
}

std::string state_of(const std::vector<Condition>& conditions) {
  const Condition* told = telling_condition(conditions);
  if (!told) return kNew;
  if (told->type == kCreated) return is_refused(*told) ? kRefused : kCreated;
  if (told->holds) return told->type;
  return told->reason == kPreparing ? kPreparing : kWaiting;
}

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
