#include "operator/api/condition.h"

#include <algorithm>

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

std::string state_of(const std::vector<Condition>& conditions) {
  for (const char* type : {kFailed, kSucceeded, kSuspended, kRestarting, kRunning, kPlaced})
    if (holds(conditions, type)) return type;
  const Condition *created = find_condition(conditions, kCreated),
                  *placed = find_condition(conditions, kPlaced);
  if (created && !created->holds && created->reason != kPreparing) return kRefused;
  if (placed) return placed->reason == kPreparing ? kPreparing : kWaiting;
  return created ? kCreated : "";
}

}  // namespace atl::ctl
