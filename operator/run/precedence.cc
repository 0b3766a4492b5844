#include "operator/run/precedence.h"

#include <algorithm>

namespace atl::ctl {

Precedence precedence_of(const GnnJob& job, const Caches& caches) {
  Precedence precedence{0, job.meta.created.value_or(Moment{}), job.full_name()};
  const auto pods = caches.pods_of(precedence.job);
  if (pods.empty()) return precedence;
  const auto most = std::ranges::max_element(pods, {}, [](const auto& pod) { return pod->priority; });
  precedence.less_urgent = -std::int64_t((*most)->priority);
  return precedence;
}

namespace {

/// Since when the condition has not held, if `reason` is why; of a job that goes on from a suspension, since that.
std::optional<Moment> lacking_since(const Status& status, const char* type, const std::string& reason) {
  const Condition* lacks = find_condition(status.conditions, type);
  if (has_ended(status.conditions) || !lacks || lacks->holds || lacks->reason != reason) return {};
  const Condition* suspended = find_condition(status.conditions, kSuspended);
  return suspended ? std::max(lacks->changed, suspended->changed) : lacks->changed;
}

}  // namespace

std::optional<Moment> waits_for_places_since(const Status& status) {
  return lacking_since(status, kPlaced, "NoRoom");
}

std::optional<Moment> waits_for_room_since(const Status& status) {
  if (const auto since = waits_for_places_since(status)) return since;
  if (const auto since = lacking_since(status, kPlaced, kUnschedulable)) return since;
  return lacking_since(status, kRunning, "NoRoom");
}

}  // namespace atl::ctl
