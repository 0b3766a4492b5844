#include "operator/run/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "operator/objects/names.h"
#include "operator/objects/release.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

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
  planner_.look_around();
  // What a gang lacks that stands already is not kept from it: the waiting one may be waiting for its end.
  return gang.job.empty() ? plan_gang(gang, planner_.snapshot_) : planner_.plan_whole(gang);
}

GangPlan Planner::plan_whole(const Gang& gang) {
  const auto kept = waiting_.reservation(snapshot_);
  const bool is_own = kept && kept->job == gang.job;
  const bool gives_way = kept && !is_own && !waiting_.comes_before(gang.job, kept->job);
  if (gives_way) std::ranges::copy(kept->room, std::back_inserter(snapshot_.pods));
  GangPlan plan = plan_gang(gang, snapshot_);
  if (plan.fits) return plan;
  waiting_.put(gang);
  if (is_own)
    plan.reasons.push_back(
        fmt::format("{} kept for it, so that none that comes later takes that", text_of(*kept)));
  if (gives_way) plan.reasons.push_back(fmt::format("room is kept for {}, which comes first", kept->job));
  return plan;
}

void Planner::Turn::book(const std::string& job, const Decision& decision) {
  std::map<std::string, std::string> nodes;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage)
      if (write.verb == Write::Verb::kPatch)
        if (auto node = pinned_by(write.body); !node.empty()) nodes[write.name] = std::move(node);
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

/// Most nodes are as they were the last time: only the others are copied.
void Planner::look_at_nodes() {
  auto nodes = caches_.nodes();
  snapshot_.nodes.resize(nodes.size());
  nodes_.resize(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n] != nodes_[n]) snapshot_.nodes[n] = nodes[n]->state;
  nodes_ = std::move(nodes);
}

void Planner::look_around() {
  look_at_nodes();
  snapshot_.pods.clear();
  caches_.others().add_to(snapshot_.pods);
  for (const auto& pod : caches_.pods()) {
    if (pod->has_ended()) continue;
    PodState state;
    state.node = pod->node;
    state.pinned = pod->pinned.empty() && !pod->is_bound() ? booked_node(*pod) : pod->pinned;
    if (state.where().empty()) continue;
    state.job = full_name(pod->meta.space, pod->meta.label(kJobLabel));
    state.requests = pod->requests;
    snapshot_.pods.push_back(std::move(state));
  }
}

}  // namespace atl::ctl
