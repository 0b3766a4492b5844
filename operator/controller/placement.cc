// Finds places for all pods of a gang, or for none. The plan is written to the status first. Then the pods
// are pinned to their nodes and released from their gates.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "operator/controller/places.h"
#include "operator/controller/reconcile.h"
#include "operator/controller/steps.h"
#include "operator/objects/objects.h"
#include "operator/objects/pod_sizing.h"

namespace atl::ctl {
namespace {

constexpr Seconds kShortestWait{2}, kFirstJitter{13}, kPlanAgain{60};
constexpr Seconds kTimeToReturn{1800};  // a node may be made anew, repaired, or cordoned for an upgrade
constexpr int kMostDoublings = 7;       // the longest wait is 2^7 times the shortest: four minutes

bool is_any_gated(const Reconcile& reconcile) {
  for (const PodView* worker : reconcile.gang().workers)
    if (is_gated(*worker)) return true;
  return false;
}

/// The wait after a withdrawal keeps two gangs that took room from each other from doing so again. It grows
/// each time, because the cause may be something that no plan sees.
Next wait_after_withdrawal(Reconcile& reconcile) {
  const std::string reason = reconcile.reason_against(kPlaced);
  if (reason != kWithdrawn && reason != kNotBound) return Next::kContinue;
  const Seconds least =
      kShortestWait * (1 << std::clamp(reconcile.status.withdrawals - 1, 0, kMostDoublings));
  const Moment since = reconcile.since(kPlaced);
  const Moment end = since + least + jitter(reconcile, since, std::max(least, kFirstJitter));
  return done_if(!reconcile.await(end));
}

/// A plan for some servers beside others that stay has the nodes of all, but the cost of these servers alone.
Predicted predicted_of(const GangPlan& plan, const Gang& gang, bool is_whole) {
  Predicted predicted;
  double bytes = 0;
  for (int a = 0; a < int(plan.nodes.size()); ++a)
    for (const auto& [b, sent] : gang.traffic.peers(a))
      if (a < b && plan.nodes[std::size_t(a)] != plan.nodes[std::size_t(b)]) bytes += sent;
  if (!gang.assumed && !plan.level_bytes.empty()) predicted.inter_server_bytes = bytes;
  if (is_whole && plan.cost <= plan.best_possible * (1 + 1e-9))
    predicted.best_possible = predicted.inter_server_bytes;
  predicted.reason = joined(plan.reasons, "; ");
  if (gang.assumed)
    predicted.reason +=
        fmt::format("{}traffic: assumed equal between all servers", plan.reasons.empty() ? "" : "; ");
  return predicted;
}

/// The strategy chosen for auto, and why.
std::string choice_text(const Reconcile& reconcile) {
  const std::string chosen = chosen_strategy(reconcile);
  if (chosen.empty()) return {};
  const std::string& reason = reconcile.findings()->strategy_reason;
  return "; strategy auto is " + chosen + (reason.empty() ? "" : ": " + reason);
}

std::string unlabelled_text(const GangPlan& plan) {
  if (plan.unlabelled.empty()) return {};
  return fmt::format("; no node has the label {}, so all nodes are one domain of that level",
                     joined(plan.unlabelled, ", nor "));
}

void enter(Reconcile& reconcile, const GangPlan& plan, const Gang& gang) {
  reconcile.status.servers.clear();
  for (std::size_t s = 0; s < plan.nodes.size(); ++s)
    reconcile.status.servers.push_back(
        {plan.nodes[s], gang.servers[s], gang.holds.empty() ? std::string() : gang.holds[s]});
  const bool is_whole = waiting_servers(reconcile).size() == gang.servers.size();
  reconcile.status.predicted = predicted_of(plan, gang, is_whole);
  std::string waited;
  if (const auto since = finds_no_room_since(reconcile.status.conditions))
    waited = fmt::format("; it waited {} for room", eta_text(double((reconcile.now() - *since).count())));
  const std::string split = text_of_split_node(reconcile.spec(), gang, plan, reconcile.settings.gpu_resource);
  reconcile.say(kPlaced, true, kPlanned,
                fmt::format("{} servers on {}{}{}{}{}{}{}", plan.nodes.size(), joined(plan.nodes, ", "),
                            where_assigned(reconcile), waited, choice_text(reconcile), unlabelled_text(plan),
                            split.empty() ? "" : "; ", split));
}

void pin_launcher(Reconcile& reconcile, const std::string& node) {
  const PodView* launcher = reconcile.gang().launcher;
  if (launcher && launcher->pinned.empty() && !node.empty())
    reconcile.patch(*launcher, pin_patch(*launcher, node));
}

void release_all(Reconcile& reconcile) {
  const auto& workers = reconcile.gang().workers;
  for (std::size_t s = 0; s < workers.size(); ++s)
    if (is_gated(*workers[s]))
      reconcile.patch(*workers[s],
                      pin_and_release_patch(*workers[s], reconcile.status.servers[s].node, reconcile.now()));
}

/// Whether the job's queue has admitted its pods as they are now. An admission doesn't count if the job was
/// changed after it, or if the Workload is being deleted.
bool is_admitted_as_it_is(const Reconcile& reconcile) {
  const ObjectView* place = own_place(reconcile);
  return place && place->workload->has_admission && !place->meta.deletion && !is_old_place(*place, reconcile);
}

/// Whether a pod of the job is on a node, or is planned to be. A prepare pod that has ended doesn't count.
bool is_on_nodes(const Reconcile& reconcile) {
  return runs(reconcile) || reconcile.holds(kPlaced) ||
         std::ranges::any_of(reconcile.seen.pods, [&](const PodView& pod) {
           const std::string role = pod.meta.label(kRoleLabel);
           return is_own(pod.meta, reconcile.seen) && pod.is_bound() && role != kPlaceholderRole &&
                  (role != kPrepareRole || !pod.has_ended());
         });
}

LargestPods largest_for_workers(const Reconcile& reconcile) {
  return [&reconcile](std::vector<Gang> ways) {
    for (Gang& way : ways) way.filter = nodes_for_workers(reconcile);
    return reconcile.seen.cluster->largest_pods(ways);
  };
}

/// Gives the job's pods another size. Pods of the former size are deleted first.
Next enter_pod_size(Reconcile& reconcile, const PodSizing& sizing) {
  if (sizing.is_another && dismiss_all(reconcile)) return Next::kDone;
  reconcile.status.pod_size = sizing.size;
  reconcile.status.pod_size_gone.reset();
  reconcile.status.record(sizing.made_of);
  if (sizing.is_another && sizing.size.ranks > 0)
    reconcile.say(kPlaced, false, kPodSizeChosen, sizing.size.reason);
  return done_if(sizing.is_another);
}

/// Whether the job waits for room for pods of a chosen size, and none of its ranks ever ran. A job whose
/// queue assigns nodes doesn't count: the queue found nodes for that size itself.
bool may_lack_nodes(const Reconcile& reconcile) {
  const std::string why = reconcile.reason_against(kPlaced);
  return reconcile.job().has_chosen_pod_size && (why == kNoRoom || why == kUnschedulable) &&
         !is_on_nodes(reconcile) && !reconcile.gang().is_launched && reconcile.attempt() == 1 &&
         !reconcile.spec().run_policy.suspend && !only_nodes(reconcile.job().admitted.worker_nodes);
}

/// Chooses another size where no node has been able to hold pods of the chosen one for kTimeToReturn. Its
/// nodes may be gone for good, or the flavor that the queue assigned has smaller nodes. The size stays while
/// an autoscaler is asked for nodes, because such a node may come. Time in which the user has suspended the
/// job doesn't count, because nodes aren't watched then.
Next choose_pod_size_anew(Reconcile& reconcile) {
  auto& gone = reconcile.status.pod_size_gone;
  if (reconcile.spec().run_policy.suspend) gone.reset();
  if (!may_lack_nodes(reconcile)) return Next::kContinue;
  const LargestPods largest = largest_for_workers(reconcile);
  if (could_hold_chosen(reconcile.seen.job, reconcile.settings, largest)) {
    gone.reset();
    return Next::kContinue;
  }
  if (!gone) gone = reconcile.now();
  if (!reconcile.await(*gone + kTimeToReturn) || reconcile.holds(kNodesRequested)) return Next::kContinue;
  PodSizing sizing = pod_sizing(reconcile.seen.job, reconcile.settings, largest);
  if (!sizing.is_another || sizing.size.ranks == 0) return Next::kContinue;  // no node can hold another
  sizing.size.reason +=
      fmt::format("; before, pods were to have {} ranks, which no nodes could hold since {}",
                  reconcile.status.pod_size.ranks, text_of(*gone));
  return enter_pod_size(reconcile, sizing);
}

}  // namespace

Next choose_pod_size(Reconcile& reconcile) {
  if (!is_pod_size_open(reconcile.seen.job, is_new(reconcile))) return choose_pod_size_anew(reconcile);
  if (is_admitted_as_it_is(reconcile) || is_on_nodes(reconcile)) return Next::kContinue;
  return enter_pod_size(reconcile,
                        pod_sizing(reconcile.seen.job, reconcile.settings, largest_for_workers(reconcile)));
}

GangPlan find_places(Reconcile& reconcile) {
  const Gang gang = gang_to_place(reconcile);
  GangPlan plan;
  if (std::string why = why_no_launcher_as_assigned(reconcile); why.empty())
    plan = plan_places(reconcile, gang);
  else
    plan.reasons.push_back(std::move(why));  // without a launcher, workers would only hold room
  if (plan.fits) {
    enter(reconcile, plan, gang);
  } else {
    if (std::string awaited = what_is_replaced(reconcile); !awaited.empty())
      plan.reasons.push_back(std::move(awaited));
    reconcile.say(kPlaced, false, kNoRoom, joined(plan.reasons, "; "));
    reconcile.requeue_at(reconcile.now() + kPlanAgain);  // a watch reports most new room; this finds the rest
  }
  return plan;
}

Next place_gang(Reconcile& reconcile) {
  const bool is_planned =
      reconcile.holds(kPlaced) && reconcile.status.servers.size() == reconcile.gang().workers.size();
  if (is_planned && !is_any_gated(reconcile)) return Next::kContinue;
  if (!is_planned || !is_plan_as_assigned(reconcile)) {
    if (wait_after_withdrawal(reconcile) == Next::kDone) return Next::kDone;
    const GangPlan plan = find_places(reconcile);
    if (!plan.fits) {
      request_nodes(reconcile, plan);
      return Next::kDone;
    }
    end_request(reconcile, kPlaced, "the gang has places");
    take_back_request(reconcile);
    pin_launcher(reconcile, plan.launcher);
  }
  release_all(reconcile);
  return Next::kDone;
}

}  // namespace atl::ctl
