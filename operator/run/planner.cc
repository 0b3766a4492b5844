#include "operator/run/planner.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "operator/api/pod.h"
#include "operator/objects/release.h"
#include "operator/plan/gang.h"

namespace atl::ctl {
namespace {

/// The room that a write takes for a pod; without a node where it takes none.
Booking booked_by(const Write& write) {
  Booking booking;
  if (write.verb == Write::Verb::kPatch) booking.node = pinned_by(write.body);
  if (write.verb != Write::Verb::kCreate || write.kind != Kind::kPod) return booking;
  PodView pod = read_pod(write.body);
  return {std::move(pod.pinned), std::move(pod.requests), true};
}

}  // namespace

GangPlan Planner::PlanLock::plan(const Gang& gang) {
  if (!lock_.owns_lock()) lock_.lock();
  // A gang that runs already gets what it lacks even from kept room: the waiting gang may be waiting for its
  // end.
  return gang.job.empty() ? planner_.search(gang, nullptr) : planner_.plan_whole(gang);
}

GangPlan Planner::search(const Gang& gang, const Reservation* kept) {
  return searches_.plan(gang, room_.snapshot(gang.job, kept ? kept->room : std::vector<PodState>()));
}

GangPlan Planner::plan_beside(const Gang& gang, const std::string& demand_class, const Reservation* kept) {
  // One that holds room may get another answer than the rest of its class.
  if (!room_.holds_nothing(gang.job)) return search(gang, kept);
  const std::pair question(demand_class, kept != nullptr);
  if (const auto known = refused_.find(question); known != refused_.end()) return known->second;
  GangPlan plan = search(gang, kept);
  if (!plan.fits) refused_.emplace(question, plan);
  return plan;
}

GangPlan Planner::plan_whole(const Gang& gang) {
  // read before anything else, so that changes meanwhile aren't missed
  const std::uint64_t generation = room_.generation();
  const auto kept = waiting_.reservation(
      generation, [this](const std::string& job) -> const Snapshot& { return room_.snapshot(job); });
  const bool is_other_room = std::exchange(refused_in_, generation) != generation;
  if (std::exchange(kept_, kept) != kept || is_other_room) refused_.clear();
  const bool is_own = kept && kept->job == gang.job;
  const bool gives_way = kept && !is_own && !waiting_.comes_before(gang.job, kept->job);
  const std::string demand_class = ctl::demand_class(gang);
  GangPlan plan = plan_beside(gang, demand_class, gives_way ? kept.get() : nullptr);
  if (plan.fits) return plan;
  waiting_.put(gang, demand_class);
  if (is_own)
    plan.reasons.push_back(
        fmt::format("{} kept for it, so that none that comes later takes that", text_of(*kept)));
  if (gives_way) plan.reasons.push_back(fmt::format("room is reserved for {}, which comes first", kept->job));
  return plan;
}

void Planner::PlanLock::book(const std::string& job, const Decision& decision) {
  std::map<std::string, Booking> pods;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage)
      if (Booking booking = booked_by(write); !booking.node.empty()) pods[write.name] = std::move(booking);
  planner_.room_.book(job, std::move(pods));
  if (lock_.owns_lock()) lock_.unlock();
}

}  // namespace atl::ctl
