#include "operator/run/planner.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "operator/objects/names.h"
#include "operator/objects/release.h"
#include "operator/plan/json_members.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// The node that a JSON patch pins a pod to, or "".
std::string pin_in(const std::string& patch) {
  for (const json& step : json::parse(patch, nullptr, false)) {
    if (text_of(step, "op") != "add" || text_of(step, "path") != "/spec/affinity") continue;
    const json pod = {{"metadata", {{"labels", {{kJobLabel, "any"}}}}},
                      {"spec", {{"affinity", step["value"]}}}};
    return pod_state(pod).pinned;
  }
  return {};
}

/// A gated worker of a job whose plan is in its status stands, as good as, where that says: the operator that wrote it
/// may have died before it could pin the pod.
std::string planned_node(const GnnJob& job, const PodView& pod) {
  if (!is_gated(pod) || pod.meta.label(kRoleLabel) != kWorkerRole || !holds(job.status.conditions, kPlaced))
    return {};
  const std::string label = pod.meta.label(kServerLabel);
  std::size_t server = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), server);
  if (error != std::errc() || end != label.data() + label.size() || server >= job.status.servers.size())
    return {};
  return job.status.servers[server].node;
}

}  // namespace

GangPlan Planner::Turn::plan(const Gang& gang) {
  if (!lock_.owns_lock()) lock_.lock();
  return plan_gang(gang, planner_.snapshot());
}

void Planner::Turn::book(const std::string& job, const Decision& decision) {
  std::map<std::string, std::string> nodes;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage)
      if (write.verb == Write::Verb::kPatch)
        if (auto node = pin_in(write.body); !node.empty()) nodes[write.name] = std::move(node);
  if (!nodes.empty()) {
    std::lock_guard lock(planner_.mutex_);
    planner_.bookings_[job] = std::move(nodes);
  }
  if (lock_.owns_lock()) lock_.unlock();
}

void Planner::forget(const std::string& job) {
  std::lock_guard lock(mutex_);
  bookings_.erase(job);
}

std::string Planner::booked_node(const PodView& pod) const {
  const std::string job = full_name(pod.meta.space, pod.meta.label(kJobLabel));
  {
    std::lock_guard lock(mutex_);
    const auto booking = bookings_.find(job);
    if (booking != bookings_.end())
      if (const auto node = booking->second.find(pod.meta.name); node != booking->second.end())
        return node->second;
  }
  const auto owner = caches_.job(job);
  return owner ? planned_node(*owner, pod) : "";
}

Snapshot Planner::snapshot() const {
  Snapshot snapshot;
  for (const auto& node : caches_.nodes()) snapshot.nodes.push_back(node->state);
  caches_.others().add_to(snapshot.pods);
  for (const auto& pod : caches_.pods()) {
    if (pod->has_ended()) continue;
    PodState state;
    state.name = full_name(pod->meta.space, pod->meta.name);
    state.node = pod->node;
    state.pinned = pod->pinned.empty() && !pod->is_bound() ? booked_node(*pod) : pod->pinned;
    state.job = full_name(pod->meta.space, pod->meta.label(kJobLabel));
    state.requests = pod->requests;
    if (!state.where().empty()) snapshot.pods.push_back(std::move(state));
  }
  return snapshot;
}

}  // namespace atl::ctl
