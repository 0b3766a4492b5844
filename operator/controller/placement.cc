// A place for every pod, or for none: the plan goes into the status, then pods are pinned and released.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "operator/controller/places.h"
#include "operator/controller/questions.h"
#include "operator/controller/turn.h"
#include "operator/controller/withdraw.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

constexpr Seconds kShortestWait{2}, kFirstJitter{13}, kPlanAgain{60};
constexpr int kMostDoublings = 7;  // of the shortest wait: to four minutes

bool is_any_gated(const Turn& turn) {
  for (const PodView* worker : turn.gang().workers)
    if (is_gated(*worker)) return true;
  return false;
}

/// After a withdrawal, so that two gangs which took room from each other don't do so again; longer each time, for what was
/// in the way may be something that no plan sees.
bool must_wait(Turn& turn) {
  const std::string reason = turn.reason_against(kPlaced);
  if (reason != kWithdrawn && reason != kNotBound) return false;
  const Seconds least = kShortestWait * (1 << std::clamp(turn.status.withdrawals - 1, 0, kMostDoublings));
  const Moment since = turn.since(kPlaced);
  const Moment end = since + least + jitter(turn, since, std::max(least, kFirstJitter));
  if (turn.now() >= end) return false;
  turn.look_at(end);
  return true;
}

Predicted predicted_of(const GangPlan& plan, const Gang& gang) {
  Predicted predicted;
  const bool is_whole = plan.nodes.size() == gang.servers.size() && !plan.level_bytes.empty();
  if (!gang.assumed && is_whole)
    predicted.inter_server_bytes = std::accumulate(plan.level_bytes.begin(), plan.level_bytes.end(), 0.0);
  if (plan.cost <= plan.best_possible * (1 + 1e-9)) predicted.best_possible = predicted.inter_server_bytes;
  predicted.reason = fmt::format("{}", fmt::join(plan.reasons, "; "));
  if (gang.assumed)
    predicted.reason +=
        fmt::format("{}traffic: assumed equal between all servers", plan.reasons.empty() ? "" : "; ");
  return predicted;
}

/// What strategy auto stands for, and why.
std::string choice_text(const Turn& turn) {
  const std::string chosen = chosen_strategy(turn), reason = reason_for_strategy(turn);
  if (chosen.empty()) return {};
  return "; strategy auto is " + chosen + (reason.empty() ? "" : ": " + reason);
}

void enter(Turn& turn, const GangPlan& plan, const Gang& gang) {
  turn.status.servers.clear();
  for (std::size_t s = 0; s < plan.nodes.size(); ++s)
    turn.status.servers.push_back(
        {plan.nodes[s], gang.servers[s], gang.holds.empty() ? std::string() : gang.holds[s]});
  turn.status.predicted = predicted_of(plan, gang);
  turn.say(
      kPlaced, true, "Planned",
      fmt::format("{} servers on {}{}", plan.nodes.size(), fmt::join(plan.nodes, ", "), choice_text(turn)));
}

void pin_launcher(Turn& turn, const std::string& node) {
  const PodView* launcher = turn.gang().launcher;
  if (launcher && launcher->pinned.empty() && !node.empty())
    turn.patch(*launcher, pin_patch(*launcher, node));
}

void release_all(Turn& turn) {
  const auto& workers = turn.gang().workers;
  for (std::size_t s = 0; s < workers.size(); ++s)
    if (is_gated(*workers[s]))
      turn.patch(*workers[s], pin_and_release_patch(*workers[s], turn.status.servers[s].node, turn.now()));
}

}  // namespace

GangPlan find_places(Turn& turn) {
  const Gang gang = gang_to_place(turn);
  GangPlan plan = plan_places(turn, gang);
  if (plan.fits) {
    enter(turn, plan, gang);
  } else {
    turn.say(kPlaced, false, "NoRoom", fmt::format("{}", fmt::join(plan.reasons, "; ")));
    turn.look_at(turn.now() + kPlanAgain);  // room is noticed by watching; this is for what no watch shows
  }
  return plan;
}

bool is_unplaced(Turn& turn) {
  const bool is_planned = turn.holds(kPlaced) && turn.status.servers.size() == turn.gang().workers.size();
  if (is_planned && !is_any_gated(turn)) return false;
  if (!is_planned) {
    if (must_wait(turn)) return true;
    const GangPlan plan = find_places(turn);
    if (!plan.fits) return true;
    pin_launcher(turn, plan.launcher);
  }
  release_all(turn);
  return true;
}

}  // namespace atl::ctl
