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

std::optional<Moment> waits_for_places_since(const Status& status) {
  const Condition* placed = find_condition(status.conditions, kPlaced);
  if (has_ended(status.conditions) || !placed || placed->holds || placed->reason != "NoRoom") return {};
  const Condition* suspended = find_condition(status.conditions, kSuspended);
  return suspended ? std::max(placed->changed, suspended->changed) : placed->changed;
}

}  // namespace atl::ctl
