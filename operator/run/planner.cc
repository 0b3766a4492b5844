#include "operator/run/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "operator/objects/names.h"
#include "operator/objects/release.h"
#include "operator/plan/gang.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

/// The planned node of a gated worker whose job's status has a plan: the operator that wrote the plan may
/// have died before it pinned the pod.
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

/// The pod that a write pins to a node; without a name where the pod exists already.
PodState booked_by(const Write& write, const std::string& job) {
  PodState state;
  if (write.verb == Write::Verb::kPatch) state.pinned = pinned_by(write.body);
  if (write.verb != Write::Verb::kCreate || write.kind != Kind::kPod) return state;
  PodView pod = read_pod(write.body);
  state.name = full_name(pod.meta.space, pod.meta.name);
  state.pinned = std::move(pod.pinned);
  state.job = job;
  state.requests = std::move(pod.requests);
  return state;
}

}  // namespace

GangPlan Planner::PlanLock::plan(const Gang& gang) {
  if (!lock_.owns_lock()) lock_.lock();
  // A gang that runs already gets what it lacks even from kept room: the waiting gang may be waiting for its
  // end.
  planner_.is_current_ = false;
  return gang.job.empty() ? planner_.search(gang, nullptr) : planner_.plan_whole(gang);
}

GangPlan Planner::search(const Gang& gang, const Reservation* kept) {
  look_around();
  is_current_ = false;  // the snapshot then includes the kept room
  if (kept) std::ranges::copy(kept->room, std::back_inserter(snapshot_.pods));
  return searches_.plan(gang, snapshot_);
}

bool Planner::holds_nothing(const std::string& job) const {
  {
    std::lock_guard lock(mutex_);
    if (bookings_.contains(job)) return false;
  }
  const auto known = caches_.job(job);
  if (!known || holds(known->status.conditions, kPlaced)) return false;
  return std::ranges::none_of(caches_.pods_of(job), [](const auto& pod) {
    return (pod->is_bound() || !pod->pinned.empty()) && !pod->has_ended();
  });
}

/// `generation`: from before anything else was read, so that changes meanwhile aren't missed.
GangPlan Planner::plan_beside(const Gang& gang, const std::string& demand_class, const Reservation* kept,
                              std::uint64_t generation) {
  if (!holds_nothing(gang.job)) return search(gang, kept);
  if (std::exchange(refused_in_, generation) != generation) refused_.clear();
  const std::string question = demand_class + (kept ? kept->job : "");
  if (const auto known = refused_.find(question); known != refused_.end()) return known->second;
  GangPlan plan = search(gang, kept);
  if (!plan.fits) refused_.emplace(question, plan);
  return plan;
}

GangPlan Planner::plan_whole(const Gang& gang) {
  const std::uint64_t generation = this->generation();
  const auto kept = waiting_.reservation(generation, [this]() -> const Snapshot& {
    look_around();
    return snapshot_;
  });
  const bool is_own = kept && kept->job == gang.job;
  const bool gives_way = kept && !is_own && !waiting_.comes_before(gang.job, kept->job);
  const std::string demand_class = ctl::demand_class(gang);
  GangPlan plan = plan_beside(gang, demand_class, gives_way ? &*kept : nullptr, generation);
  if (plan.fits) return plan;
  waiting_.put(gang, demand_class);
  if (is_own)
    plan.reasons.push_back(
        fmt::format("{} kept for it, so that none that comes later takes that", text_of(*kept)));
  if (gives_way) plan.reasons.push_back(fmt::format("room is reserved for {}, which comes first", kept->job));
  return plan;
}

void Planner::PlanLock::book(const std::string& job, const Decision& decision) {
  std::map<std::string, PodState> pods;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage)
      if (auto pod = booked_by(write, job); !pod.pinned.empty()) pods[write.name] = std::move(pod);
  if (!pods.empty()) {
    std::lock_guard lock(planner_.mutex_);
    for (auto& [name, pod] : pods) planner_.bookings_[job].insert_or_assign(name, std::move(pod));
    ++planner_.booked_;
  }
  if (lock_.owns_lock()) lock_.unlock();
}

void Planner::forget(const std::string& job, const std::set<std::string>& but) {
  std::lock_guard lock(mutex_);
  const auto booking = bookings_.find(job);
  if (booking == bookings_.end()) return;
  ++booked_;
  std::erase_if(booking->second, [&](const auto& pod) { return !but.contains(pod.first); });
  if (booking->second.empty()) bookings_.erase(booking);
}

std::string Planner::booked_node(const PodView& pod, const std::string& job) const {
  {
    std::lock_guard lock(mutex_);
    const auto booking = bookings_.find(job);
    if (booking != bookings_.end())
      if (const auto node = booking->second.find(pod.meta.name); node != booking->second.end())
        return node->second.pinned;
  }
  const auto owner = caches_.job(job);
  return owner ? planned_node(*owner, pod) : "";
}

std::map<std::string, PodState> Planner::unborn() const {
  std::map<std::string, PodState> pods;
  std::lock_guard lock(mutex_);
  for (const auto& [job, booked] : bookings_)
    for (const auto& [name, pod] : booked)
      if (!pod.name.empty()) pods.emplace(pod.name, pod);
  return pods;
}

/// Copies only nodes that changed since the last time, which are few.
void Planner::look_at_nodes() {
  auto nodes = caches_.nodes();
  snapshot_.nodes.resize(nodes.size());
  nodes_.resize(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n] != nodes_[n]) snapshot_.nodes[n] = nodes[n]->state;
  nodes_ = std::move(nodes);
}

void Planner::look_around() {
  if (std::exchange(is_current_, true)) return;
  look_at_nodes();
  snapshot_.pods.clear();
  caches_.others().add_to(snapshot_.pods);
  auto unborn = this->unborn();  // read before the caches, which may show them from then on
  for (const auto& pod : caches_.pods()) {
    if (!unborn.empty()) unborn.erase(full_name(pod->meta.space, pod->meta.name));
    if (pod->has_ended() || pod->meta.label(kJobLabel).empty())
      continue;  // without a job's name it is in others()
    PodState state;
    state.node = pod->node;
    state.job = caches_.owner_of(*pod);
    // Anybody may give a pod our annotation, so only a job's own pods hold the room of their pin.
    if (!state.job.empty())
      state.pinned = pod->pinned.empty() && !pod->is_bound() ? booked_node(*pod, state.job) : pod->pinned;
    if (state.where().empty()) continue;
    state.requests = pod->requests;
    snapshot_.pods.push_back(std::move(state));
  }
  for (auto& [name, pod] : unborn) snapshot_.pods.push_back(std::move(pod));
}

}  // namespace atl::ctl
