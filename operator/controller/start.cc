// Pods that were released and don't start: a node's room is gone, an image can't be pulled. The gang is let go of, so
// that nobody waits for it, and the reason is named.
#include <fmt/format.h>

#include <algorithm>

#include "operator/controller/incident.h"
#include "operator/controller/questions.h"
#include "operator/controller/withdraw.h"
#include "operator/objects/names.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

constexpr Seconds kTimeToBind{30};  // from the scheduler's first word against the pod
constexpr Seconds kTimeForAWord{
    300};  // while it says nothing: it may be away or behind, or a volume is being made
constexpr std::size_t kMostNamed = 5;  // pods in a message

using Pods = std::vector<const PodView*>;

std::string listed(const std::vector<std::string>& texts, const char* between) {
  std::string all;
  for (std::size_t i = 0; i < texts.size() && i < kMostNamed; ++i) all += (i ? between : "") + texts[i];
  if (texts.size() > kMostNamed) all += fmt::format("{}and {} more", between, texts.size() - kMostNamed);
  return all;
}

Pods released(const Turn& turn) {
  Pods pods;
  for (const PodView* worker : turn.gang().workers)
    if (worker && !is_gated(*worker)) pods.push_back(worker);
  const PodView* launcher = turn.gang().launcher;
  if (launcher && !is_gated(*launcher)) pods.push_back(launcher);
  return pods;
}

Moment last_release(const Pods& pods) {
  Moment last{};
  for (const PodView* pod : pods) last = std::max(last, released_at(*pod).value_or(Moment{}));
  return last;
}

bool has_started(const PodView& pod) {
  if (pod.meta.label(kRoleLabel) == kWorkerRole) return pod.ready;
  const ContainerView* engine = pod.container(kEngine);
  return engine && (engine->running || engine->ended);
}

/// What the scheduler has against it, and who stands where it was to stand: that need not be the reason.
std::string why_not_bound(const Turn& turn, const PodView& pod) {
  const auto strangers = turn.seen.strangers(pod.pinned);
  return fmt::format("{} was not bound to {}; the scheduler says{}; {} {} there now", pod.meta.name,
                     pod.pinned, pod.unschedulable.empty() ? " nothing" : ": " + pod.unschedulable,
                     strangers.empty() ? "nothing" : listed(strangers, ", "),
                     strangers.size() > 1 ? "stand" : "stands");
}

/// When it is given up, if it isn't bound. Whoever was gated bears the time of the gate for the scheduler's first word.
Moment end_of_patience(const PodView& pod, Moment last_release) {
  if (pod.unschedulable.empty()) return last_release + kTimeForAWord;
  return std::max(last_release, pod.scheduler_spoke.value_or(last_release)) + kTimeToBind;
}

/// Looks at few: each asks who stands on a node.
std::string why_not_bound(const Turn& turn, const Pods& unbound) {
  std::vector<std::string> reasons;
  for (const PodView* pod : unbound)
    reasons.push_back(reasons.size() < kMostNamed ? why_not_bound(turn, *pod) : "");
  return listed(reasons, "; ");
}

/// Healthy pods of an attempt before, whose missing ones were to be replaced, waiting for a room that doesn't come: two
/// such jobs could wait for each other for ever.
bool is_waiting_in_vain(Turn& turn, const Pods& standing) {
  if (standing.empty() || turn.holds(kPlaced) || turn.gang().is_launched) return false;
  const Moment end = turn.since(kPlaced) + Seconds(turn.spec().run_policy.start_deadline_seconds);
  turn.look_at(end);
  if (turn.now() < end) return false;
  withdraw(turn, "there is no room for the pods that are missing; the others are let go");
  return true;
}

}  // namespace

bool is_start_overdue(Turn& turn) {
  const PodView* launcher = turn.gang().launcher;
  if (launcher && has_started(*launcher))
    return false;  // a worker's sshd may be slow to answer while it trains
  const Pods pods = released(turn);
  std::vector<std::string> reasons;
  const PodView* first = nullptr;
  for (const PodView* pod : pods) {
    if (has_started(*pod)) continue;
    first = first ? first : pod;
    reasons.push_back(why_not_started(*pod));
  }
  if (!first) return is_waiting_in_vain(turn, pods);
  Moment begin = last_release(pods);
  if (!turn.status.restarts.empty()) begin = std::max(begin, turn.status.restarts.back().time);
  const auto seconds = turn.spec().run_policy.start_deadline_seconds;
  turn.look_at(begin + Seconds(seconds));
  if (turn.now() < begin + Seconds(seconds)) return false;
  const std::string message = fmt::format("not started within {} s (runPolicy.startDeadlineSeconds): {}",
                                          seconds, listed(reasons, "; "));
  restart(turn, {"StartDeadlineExceeded", {{}, "", first->meta.name, first->node}, message});
  if (!has_ended(turn.status.conditions)) withdraw(turn, message);  // else its policy says which pods go
  return true;
}

bool is_gang_unbound(Turn& turn) {
  const Pods pods = released(turn);
  const Moment last = last_release(pods);
  Pods unbound;
  Moment end = Moment::max();
  for (const PodView* pod : pods) {
    if (pod->is_bound()) continue;
    unbound.push_back(pod);
    end = std::min(end, end_of_patience(*pod, last));
  }
  if (unbound.empty()) return false;
  turn.look_at(end);
  if (turn.now() < end) return false;
  const std::string reasons = why_not_bound(turn, unbound);
  if (turn.gang().is_launched) {  // all workers are ready: it is the launcher
    restart(turn, {kNotBound, {{}, "", turn.gang().launcher->meta.name, ""}, reasons});
    return true;
  }
  // Pods of an earlier release serve on; only those that replace lost ones are withdrawn.
  const Moment placed = turn.since(kPlaced);
  auto is_kept = [&](const PodView* pod) {
    return pod->is_bound() && released_at(*pod).value_or(placed) < placed;
  };
  if (std::ranges::none_of(pods, is_kept)) {
    withdraw(turn, reasons);
    return true;
  }
  give_up_plan(turn, kNotBound, reasons);
  for (const PodView* pod : pods)
    if (!is_kept(pod)) dismiss(turn, *pod);
  return true;
}

}  // namespace atl::ctl
