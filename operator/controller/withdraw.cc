// Deletes pods: those of a gang that is withdrawn, leftovers, and released pods that don't start.
#include <fmt/format.h>

#include <algorithm>

#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

constexpr Seconds kSlack{5};  // a working kubelet removes a pod within this time of its grace's end

bool answers(const Reconcile& reconcile, const std::string& node) {
  const auto found = reconcile.seen.nodes.find(node);
  return found != reconcile.seen.nodes.end() && found->second.ready;
}

}  // namespace

void dismiss(Reconcile& reconcile, const PodView& pod, std::optional<int> grace) {
  if (!pod.is_terminating()) return reconcile.remove(Kind::kPod, pod.meta, grace);
  if (!pod.is_bound() || answers(reconcile, pod.node)) return;
  if (reconcile.await(*pod.meta.deletion + kSlack)) reconcile.remove(Kind::kPod, pod.meta, 0);
}

namespace {

/// Records that the plan failed, with the reason kWithdrawn or kNotBound. Counts such failures since the
/// ranks last ran, because the wait grows with each.
void give_up_plan(Reconcile& reconcile, const char* reason, const std::string& message) {
  if (reconcile.reason_against(kPlaced) != reason) ++reconcile.status.withdrawals;
  reconcile.say(kPlaced, false, reason, message);
}

/// Continues a withdrawal that was cut short.
void dismiss_withdrawn(Reconcile& reconcile) {
  if (reconcile.reason_against(kPlaced) != kWithdrawn) return;
  for (const PodView* worker : reconcile.gang().workers)
    if (worker && !is_gated(*worker)) dismiss(reconcile, *worker);
  // A pinned launcher is deleted too: its pin can't be changed, and the next plan's node isn't known yet.
  const PodView* launcher = reconcile.gang().launcher;
  if (launcher && !launcher->pinned.empty()) dismiss(reconcile, *launcher);
}

}  // namespace

void withdraw(Reconcile& reconcile, const std::string& message) {
  give_up_plan(reconcile, kWithdrawn, message);
  if (reconcile.spec().launcher == Launcher::kMpiJob)
    reconcile.end_attempt();  // all its pods then become leftovers
  else
    dismiss_withdrawn(reconcile);
}

// Leftovers of an earlier attempt, a withdrawal or another manifest are deleted before anything new is made.

namespace {

/// Seconds of grace for a launcher of an attempt that was given up. It has nothing left to save.
constexpr int kGraceOfTheGivenUp = 10;

/// The launcher of the last attempt is kept for its log if it has ended.
bool is_kept_for_its_log(const PodView& launcher, const Reconcile& reconcile) {
  return launcher.has_ended() && !launcher.is_terminating() &&
         launcher.meta.label(kAttemptLabel) == std::to_string(reconcile.attempt() - 1);
}

/// ConfigMaps of the job that no pod will need again, and a Workload that is out of date.
bool is_outdated(const ObjectView& object, const Reconcile& reconcile) {
  if (is_old_place(object, reconcile)) return true;
  if (object.kind != Kind::kConfigMap) return false;
  const std::string& job = reconcile.name();
  return object.meta.name != job_map_name(job, reconcile.job().made_of.manifest) &&
         object.meta.name != prepared_map_name(job, reconcile.job().made_of.prepared) &&
         object.meta.name != attempt_map_name(job, reconcile.attempt());
}

}  // namespace

Next remove_leftovers(Reconcile& reconcile) {
  dismiss_mpi_jobs(reconcile, mpi_job_name(reconcile.name(), reconcile.attempt()));
  dismiss_withdrawn(reconcile);
  for (const PodView* worker : reconcile.gang().replaced) dismiss(reconcile, *worker);
  for (const PodView* launcher : reconcile.gang().earlier_launchers)
    if (!is_kept_for_its_log(*launcher, reconcile)) dismiss(reconcile, *launcher, kGraceOfTheGivenUp);
  for (const ObjectView& object : reconcile.seen.objects)
    if (is_own(object.meta, reconcile.seen) && is_outdated(object, reconcile))
      reconcile.remove(object.kind, object.meta);
  const PodView* prepare = reconcile.gang().prepare;
  if (prepare && reconcile.findings() && !prepare->has_ended()) dismiss(reconcile, *prepare);
  return done_if(reconcile.has_writes());
}

// Released pods that don't start, because a node's room is gone or an image can't be pulled. Their gang is
// withdrawn, so that nobody waits for them, and a condition names the cause.

namespace {

constexpr Seconds kTimeToBind{30};  // from the scheduler's first word against the pod
constexpr Seconds kTimeForAWord{
    300};  // while the scheduler says nothing: it may be away or behind, or a volume is being made
constexpr std::size_t kMostNamed = 5;  // pods in a message

using Pods = std::vector<const PodView*>;

std::string listed(const std::vector<std::string>& texts, const char* between) {
  std::string all;
  for (std::size_t i = 0; i < texts.size() && i < kMostNamed; ++i) all += (i ? between : "") + texts[i];
  if (texts.size() > kMostNamed) all += fmt::format("{}and {} more", between, texts.size() - kMostNamed);
  return all;
}

Pods released(const Reconcile& reconcile) {
  Pods pods = reconcile.gang().pods();
  std::erase_if(pods, [](const PodView* pod) { return is_gated(*pod); });
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

/// The scheduler's reason, and the pods on the intended node, which need not be the reason.
std::string why_not_bound(const Reconcile& reconcile, const PodView& pod) {
  const auto other_pods = reconcile.seen.cluster->other_pods(pod.pinned);
  return fmt::format("{} was not bound to {}; the scheduler says{}; {} {} there now", pod.meta.name,
                     pod.pinned, pod.unschedulable.empty() ? " nothing" : ": " + pod.unschedulable,
                     other_pods.empty() ? "nothing" : listed(other_pods, ", "),
                     other_pods.size() > 1 ? "stand" : "stands");
}

/// When an unbound pod is given up. The scheduler's first word on a pod that was gated dates from the time at
/// the gate, so the time of the last release counts if it is later.
Moment end_of_patience(const PodView& pod, Moment last_release) {
  if (pod.unschedulable.empty()) return last_release + kTimeForAWord;
  return std::max(last_release, pod.scheduler_spoke.value_or(last_release)) + kTimeToBind;
}

/// Explains a few pods only, because each explanation looks up the pods on a node.
std::string why_not_bound(const Reconcile& reconcile, const Pods& unbound) {
  std::vector<std::string> reasons;
  for (const PodView* pod : unbound)
    reasons.push_back(reasons.size() < kMostNamed ? why_not_bound(reconcile, *pod) : "");
  return listed(reasons, "; ");
}

/// Withdraws healthy pods that have waited too long, because two such jobs could wait for each other for
/// ever. They wait for other pods of the gang that find no room, or for a launcher that finds none.
/// Withdrawing also helps where a queue assigned a node that can't be used: the queue assigns another only
/// once none of the job's pods is on it.
Next withdraw_waiting_in_vain(Reconcile& reconcile, const Pods& standing) {
  const bool lacks_launcher = reconcile.holds(kPlaced) && reconcile.reason_against(kRunning) == kNoRoom;
  if (standing.empty() || reconcile.gang().is_launched) return Next::kContinue;
  if (reconcile.holds(kPlaced) && !lacks_launcher) return Next::kContinue;
  const Moment begin = lacks_launcher ? std::max(reconcile.since(kPlaced), reconcile.since(kRunning))
                                      : reconcile.since(kPlaced);
  if (!reconcile.await(begin + stated_time(reconcile.spec().run_policy.start_deadline_seconds)))
    return Next::kContinue;
  const std::string message = lacks_launcher
                                  ? reconcile.condition(kRunning)->message + "; they are let go"
                                  : "there is no room for the pods that are missing; the others are let go";
  withdraw(reconcile, message);
  if (lacks_launcher) reconcile.say(kRunning, false, kWithdrawn, message);
  return Next::kDone;
}

}  // namespace

Next end_overdue_start(Reconcile& reconcile) {
  const PodView* launcher = reconcile.gang().launcher;
  if (launcher && has_started(*launcher))
    return Next::kContinue;  // a worker's sshd may be slow to answer while it trains
  const Pods pods = released(reconcile);
  std::vector<std::string> reasons;
  const PodView* first = nullptr;
  for (const PodView* pod : pods) {
    if (has_started(*pod)) continue;
    first = first ? first : pod;
    reasons.push_back(why_not_started(*pod));
  }
  if (!first) return withdraw_waiting_in_vain(reconcile, pods);
  Moment begin = last_release(pods);
  if (!reconcile.status.restarts.empty()) begin = std::max(begin, reconcile.status.restarts.back().time);
  const auto seconds = reconcile.spec().run_policy.start_deadline_seconds;
  if (!reconcile.await(begin + stated_time(seconds))) return Next::kContinue;
  const std::string message = fmt::format("not started within {} s (runPolicy.startDeadlineSeconds): {}",
                                          seconds, listed(reasons, "; "));
  restart(reconcile, {"StartDeadlineExceeded", {{}, "", first->meta.name, first->node}, message});
  if (!has_ended(reconcile.status.conditions))
    withdraw(reconcile, message);  // otherwise the job's policy says which pods go
  return Next::kDone;
}

Next withdraw_unbound(Reconcile& reconcile) {
  const Pods pods = released(reconcile);
  const Moment last = last_release(pods);
  Pods unbound;
  Moment end = Moment::max();
  for (const PodView* pod : pods) {
    if (pod->is_bound()) continue;
    unbound.push_back(pod);
    end = std::min(end, end_of_patience(*pod, last));
  }
  if (unbound.empty() || !reconcile.await(end)) return Next::kContinue;
  const std::string reasons = why_not_bound(reconcile, unbound);
  if (reconcile.gang().is_launched) {  // all workers are ready, so it is the launcher
    restart(reconcile, {kNotBound, {{}, "", reconcile.gang().launcher->meta.name, ""}, reasons});
    return Next::kDone;
  }
  // Pods that were released before this plan stay. Only pods that replace lost ones are withdrawn.
  const Moment placed = reconcile.since(kPlaced);
  auto is_kept = [&](const PodView* pod) {
    return pod->is_bound() && released_at(*pod).value_or(placed) < placed;
  };
  if (std::ranges::none_of(pods, is_kept)) {
    withdraw(reconcile, reasons);
    return Next::kDone;
  }
  give_up_plan(reconcile, kNotBound, reasons);
  for (const PodView* pod : pods)
    if (!is_kept(pod)) dismiss(reconcile, *pod);
  return Next::kDone;
}

}  // namespace atl::ctl
