#include "operator/controller/queue.h"

#include <fmt/format.h>
#include <algorithm>

#include "operator/controller/mpi_job.h"
#include "operator/controller/questions.h"
#include "operator/controller/withdraw.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

constexpr Seconds kTryAgain{10};  // where no watch tells that something has changed
constexpr const char *kNoKueue = "NoKueue", *kQueueRefused = "QueueRefused", *kQueued = "Queued",
                     *kNameTaken = "NameTaken", *kWaitForStart = "WaitForStart",
                     *kWaitForRecovery = "WaitForRecovery";

std::string queue_of(const Turn& turn) {
  return turn.job().meta.label(kQueueLabel);
}

/// The job's, whoever made it; null where there is none.
const ObjectView* place_of(const Turn& turn) {
  return turn.find(Kind::kWorkload, workload_name(turn.name()));
}

const ObjectView* own_place(const Turn& turn) {
  const ObjectView* place = place_of(turn);
  return place && is_own(place->meta, turn.seen) ? place : nullptr;
}

std::string message_of(const Workload& workload, const char* condition) {
  const Condition* found = find_condition(workload.conditions, condition);
  return found ? found->message : "";
}

/// Kueue's words for why it is not admitted.
Hold waits(const Turn& turn, const Workload& workload) {
  std::string why = message_of(workload, kQuotaReserved);
  if (holds(workload.conditions, kQuotaReserved) && !workload.checks.empty()) why = workload.checks;
  std::string text =
      fmt::format("it waits in the queue {}{}{}", queue_of(turn), why.empty() ? "" : ": ", why);
  const Condition* evicted = find_condition(workload.conditions, kEvicted);
  if (!evicted || !evicted->holds) return {kQueued, text};
  if (!workload.has_admission)
    return {kEvicted, fmt::format("{}; before, it was evicted: {}", text, evicted->message)};
  return {kEvicted, fmt::format("the queue {} wants its room back ({}): {}", queue_of(turn), evicted->reason,
                                evicted->message)};
}

/// There is none yet, or none any more. What the API server said of the last try stands until one is made.
Hold has_no_place(const Turn& turn) {
  for (const Refusal& refusal : turn.seen.refusals)
    if (refusal.object.starts_with(name_of(Kind::kWorkload)))
      return {kQueueRefused,
              fmt::format("{} is refused by the API server ({}); is Kueue 0.15 or later installed?",
                          refusal.object, refusal.message)};
  const Condition* before = find_condition(turn.status.conditions, kSuspended);
  if (before && (before->reason == kQueueRefused || before->reason == kNameTaken))
    return {before->reason, before->message};
  if (!turn.seen.queue_priority) {
    const std::string label = turn.job().meta.label(kQueuePriorityLabel);
    return {kQueued, fmt::format("the priority class '{}' does not exist",
                                 label.empty() ? turn.job().priority_class : label)};
  }
  return {kQueued, fmt::format("it joins the queue {}", queue_of(turn))};
}

bool is_place_old(const Meta& meta, const Workload& workload, const Turn& turn) {
  return workload.queue != queue_of(turn) || meta.label(kManifestLabel) != turn.job().made_of.manifest;
}

void release_quota(Turn& turn, const ObjectView& place) {
  const Workload& workload = *place.workload;
  const Condition* evicted = find_condition(workload.conditions, kEvicted);
  if (!evicted || !evicted->holds || !workload.has_admission) return;
  // Others' requeueing is for Kueue to decide, when what it waits for is there.
  const bool is_requeued = evicted->reason == "Preempted" || evicted->reason == "NodeFailures";
  const Moment now = turn.now();
  std::vector<Condition> conditions = {
      {kQuotaReserved, false, "Pending", evicted->message, now},
      {kAdmitted, false, "NoReservation", "The workload has no reservation", now},
      {kRequeued, is_requeued, evicted->reason, evicted->message, now}};
  // A recovery that was cut short would count on, from when it began, after the next admission.
  const Condition* ready = find_condition(workload.conditions, kPodsReady);
  if (ready && ready->reason != kWaitForStart)
    conditions.push_back({kPodsReady, false, kWaitForStart, "its pods are gone", now});
  turn.patch(Kind::kWorkload, place.meta.name, conditions_patch(place.meta, workload, conditions, true));
}

void join_queue(Turn& turn) {
  if (place_of(turn)) return;  // somebody else's
  turn.look_at(turn.now() + kTryAgain);
  if (!turn.seen.queue_priority) return;
  turn.create(Kind::kWorkload, workload_name(turn.name()),
              workload(turn.job(), turn.settings, turn.gang().servers, *turn.seen.queue_priority));
}

/// PodsReady, where it isn't as it was.
std::optional<Condition> news_of_pods(const Turn& turn, const Workload& workload) {
  const Condition* said = find_condition(workload.conditions, kPodsReady);
  const bool runs = holds(turn.seen.job.status.conditions, kRunning);
  if (runs == (said && said->holds)) return {};
  const bool is_recovery = said && said->reason == kWaitForRecovery;
  if (runs)
    return Condition{kPodsReady, true, is_recovery ? "Recovered" : "Started", "all ranks run", turn.now()};
  return Condition{kPodsReady, false, kWaitForRecovery, "ranks are started again", turn.now()};
}

bool has_pods_to_go(const Turn& turn) {
  return turn.has_writes() || std::ranges::any_of(turn.seen.pods, [&](const PodView& pod) {
           return is_own(pod.meta, turn.seen) && pod.is_terminating() && !pod.has_ended();
         });
}

/// That the job has ended, and how.
std::optional<Condition> news_of_end(const Turn& turn, const Workload& workload) {
  if (holds(workload.conditions, kFinished)) return {};
  const auto& conditions = turn.seen.job.status.conditions;
  const char* how = holds(conditions, kSucceeded) ? kSucceeded : kFailed;
  return Condition{kFinished, true, how, find_condition(conditions, how)->message, turn.now()};
}

}  // namespace

std::optional<Hold> held_by_queue(const Turn& turn) {
  const std::string queue = queue_of(turn);
  if (queue.empty()) return {};
  if (!turn.settings.kueue)
    return Hold{kNoKueue,
                fmt::format("the label {} names the queue {}, but Kueue is off in this operator (set the "
                            "chart's kueue.enabled, or remove the label)",
                            kQueueLabel, queue)};
  const ObjectView* place = place_of(turn);
  if (!place) return has_no_place(turn);
  if (!is_own(place->meta, turn.seen))
    return Hold{kNameTaken,
                fmt::format("Workload {} has the name that this job's Workload needs; delete it, or "
                            "rename the job",
                            place->meta.name)};
  if (place->meta.deletion || is_place_old(place->meta, *place->workload, turn)) return has_no_place(turn);
  if (holds(place->workload->conditions, kFinished))
    return Hold{kEvicted, "its Workload was declared finished: " + message_of(*place->workload, kFinished)};
  if (!is_admitted(*place->workload)) return waits(turn, *place->workload);
  if (!turn.job().admitted.unknown.empty())
    return Hold{kQueued, fmt::format("its queue assigned the ResourceFlavor {}, which does not exist",
                                     turn.job().admitted.unknown)};
  return {};
}

void keep_place(Turn& turn, bool wants_place) {
  if (!turn.settings.kueue) return;
  const ObjectView* place = own_place(turn);
  if (!place) {
    if (wants_place) join_queue(turn);
  } else if (place->meta.deletion) {
    return;
  } else if (!wants_place || is_place_old(place->meta, *place->workload, turn)) {
    turn.remove(Kind::kWorkload, place->meta);
  } else {
    if (!turn.job().admitted.unknown.empty()) turn.look_at(turn.now() + kTryAgain);
    release_quota(turn, *place);
  }
}

bool is_old_place(const ObjectView& object, const Turn& turn) {
  return object.kind == Kind::kWorkload && !object.meta.deletion &&
         is_place_old(object.meta, *object.workload, turn);
}

void tell_queue(Turn& turn) {
  const ObjectView* place = own_place(turn);
  if (!place || !place->workload || place->meta.deletion || turn.job().meta.deletion) return;
  const bool has_ended = ctl::has_ended(turn.seen.job.status.conditions);
  if (has_ended && has_pods_to_go(turn)) return;  // its room is in use until they are gone
  const bool is_in_queue = turn.job().job && !turn.spec().run_policy.suspend && is_admitted(*place->workload);
  if (!has_ended && !is_in_queue) return;
  const auto news = has_ended ? news_of_end(turn, *place->workload) : news_of_pods(turn, *place->workload);
  if (news)
    turn.patch(Kind::kWorkload, place->meta.name, conditions_patch(place->meta, *place->workload, {*news}));
}

// Suspending a job, as its user wishes or its queue: the launcher first, which has the ranks write a checkpoint, then
// everything else. And resuming.

namespace {

/// Launchers that run, on their way out at the end.
bool dismiss_launchers(Turn& turn) {
  bool is_any = false;
  for (const PodView& pod : turn.seen.pods) {
    const bool is_launcher = is_own(pod.meta, turn.seen) && pod.meta.label(kRoleLabel) == kLauncherRole;
    if (!is_launcher || is_gated(pod) || pod.has_ended()) continue;
    dismiss(turn, pod);
    is_any = true;
  }
  return is_any;
}

bool dismiss_all(Turn& turn) {
  bool is_any = dismiss_mpi_jobs(turn);
  for (const PodView& pod : turn.seen.pods) {
    if (!is_own(pod.meta, turn.seen)) continue;
    dismiss(turn, pod);
    is_any = true;
  }
  return is_any;
}

std::optional<Hold> held(const Turn& turn) {
  if (turn.spec().run_policy.suspend) return Hold{kSuspended, "runPolicy.suspend is true"};
  return held_by_queue(turn);
}

}  // namespace

bool is_resumed(Turn& turn) {
  if (!turn.holds(kSuspended) || held(turn)) return false;
  const std::string queue = turn.job().meta.label(kQueueLabel);
  if (queue.empty())
    turn.say(kSuspended, false, "Resumed", "runPolicy.suspend is false");
  else
    turn.say(kSuspended, false, kAdmitted, "the queue " + queue + " has room for it");
  turn.end_attempt();
  return true;
}

bool is_suspended(Turn& turn) {
  const auto hold = held(turn);
  if (!hold) return false;
  if (dismiss_launchers(turn) || dismiss_all(turn)) {
    turn.say(kSuspended, false, "Suspending",
             "the ranks write a checkpoint, then the pods are deleted: " + hold->message);
    return true;
  }
  for (const char* condition : {kPlaced, kRunning, kRestarting})
    turn.say(condition, false, kSuspended, hold->message);
  turn.say(kSuspended, true, hold->reason, hold->message);
  turn.status.servers.clear();
  turn.status.start.reset();  // deadlines count from the next start
  keep_place(turn, !turn.spec().run_policy.suspend);
  return true;
}

}  // namespace atl::ctl
