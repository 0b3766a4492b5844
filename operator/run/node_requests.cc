// For which jobs an autoscaler may be asked for nodes.
#include "operator/run/waiting_gangs.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/strategies.h"
#include "operator/controller/gang_view.h"
#include "operator/objects/names.h"
#include "operator/run/caches.h"
#include "operator/run/kinds.h"

namespace atl::ctl {

std::string NodeRequests::why_not(const std::string& job, const Precedence& order, std::size_t servers) {
  const auto wanted = std::int64_t(servers);
  if (wanted > most_of_space_) {
    forget(job);
    return fmt::format(
        "the gang has {} servers, and nodes may be asked for {} of a namespace at a time (scaleUp.mostServers of "
        "the chart is {})",
        wanted, most_of_space_, most_);
  }
  std::lock_guard lock(mutex_);
  Wish& wish = wishes_[job];
  wish.order = order;
  wish.servers = wanted;
  std::map<std::string, std::int64_t> before;  // by namespace: servers granted, or in line before
  for (const auto& [other, its] : wishes_)
    if (other != job && (its.is_granted || its.order < order)) before[space_of(other)] += its.servers;
  std::int64_t of_all = wanted;
  for (const auto& [space, sum] : before)
    of_all += std::min(sum, most_of_space_);  // a namespace never gets more, so more holds nobody up
  wish.is_granted = of_all <= most_ && before[space_of(job)] + wanted <= most_of_space_;
  if (wish.is_granted) return {};
  return fmt::format(
      "they are asked for other jobs' servers first (scaleUp.mostServers of the chart is {}, half of them for one "
      "namespace)",
      most_);
}

void NodeRequests::forget(const std::string& job) {
  std::lock_guard lock(mutex_);
  wishes_.erase(job);
}

void NodeRequests::restore(const Caches& caches) {
  for (const auto& job : caches.jobs()) {
    if (!job->job || !holds(job->status.conditions, kNodesRequested)) continue;
    const auto servers = job->job->strategy.row->layout(*job->job).groups.size();
    std::lock_guard lock(mutex_);
    wishes_[job->full_name()] = {precedence_of(*job, caches), std::int64_t(servers), true};
  }
}

std::size_t NodeRequests::size() const {
  std::lock_guard lock(mutex_);
  return wishes_.size();
}

bool has_requests(const Observed& seen) {
  const auto is_placeholder = [&](const PodView& pod) {
    return is_own(pod.meta, seen) && pod.meta.label(kRoleLabel) == kPlaceholderRole;
  };
  return std::ranges::any_of(seen.pods, is_placeholder) ||
         std::ranges::any_of(seen.objects, [&](const ObjectView& object) {
           return object.kind == Kind::kCapacityBuffer && is_own(object.meta, seen);
         });
}

}  // namespace atl::ctl
