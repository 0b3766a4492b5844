#include "operator/run/planner.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "operator/plan/gang.h"

namespace atl::ctl {
namespace {

/// Room for the gang's pods, which are named as in ClusterView::plan().
std::map<std::string, Booking> bookings_of(const Gang& gang, const GangPlan& plan,
                                           const std::vector<std::string>& pods) {
  std::map<std::string, Booking> bookings;
  for (std::size_t p = 0; p < pods.size(); ++p) {
    const bool is_server = p < plan.nodes.size();
    bookings[pods[p]] = {is_server ? plan.nodes[p] : plan.launcher, is_server ? gang.server : gang.launcher};
  }
  std::erase_if(bookings, [](const auto& one) { return one.second.node.empty(); });
  return bookings;
}

/// The pods that the decision makes or changes.
std::set<std::string> written_pods(const Decision& decision) {
  std::set<std::string> pods;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage)
      if (write.kind == Kind::kPod && write.verb != Write::Verb::kDelete) pods.insert(write.name);
  return pods;
}

}  // namespace

Planner::JobPlans::JobPlans(Planner& planner, std::string job, std::set<std::string> unseen)
    : planner_(planner), job_(std::move(job)), kept_(std::move(unseen)) {
  planner_.forget(job_, kept_);
}

Planner::JobPlans::~JobPlans() {
  planner_.forget(job_, kept_);
}

GangPlan Planner::JobPlans::plan(const Gang& gang, const std::vector<std::string>& pods) {
  std::lock_guard lock(planner_.mutex_);
  planner_.forget(job_, kept_);  // an earlier plan of this look
  // A gang that runs already gets what it lacks even from kept room: the waiting gang may be waiting for its
  // end.
  GangPlan plan = gang.job.empty() ? planner_.search(gang, nullptr) : planner_.plan_whole(gang);
  if (plan.fits) planner_.room_.book(job_, bookings_of(gang, plan, pods));
  return plan;
}

void Planner::JobPlans::keep(const Decision& decision) {
  kept_.merge(written_pods(decision));
  planner_.forget(job_, kept_);
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

}  // namespace atl::ctl
