// Jobs that queue for quota: those with the label kueue.x-k8s.io/queue-name. Such a job has a Workload. The
// job is held, as if suspended, until Kueue admits the Workload, and again when Kueue evicts it. The operator
// tells Kueue that all ranks run, that an evicted job's pods are gone, and that the job has ended.
#include <fmt/format.h>
#include <algorithm>

#include "operator/controller/places.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

constexpr Seconds kTryAgain{10};  // where no watch reports a change
constexpr Seconds kTimeToGo{10};  // beyond the grace of a pod that was told to stop
constexpr const char *kNoKueue = "NoKueue", *kQueueRefused = "QueueRefused", *kQueued = "Queued",
                     *kNameTaken = "NameTaken", *kWaitForStart = "WaitForStart",
                     *kWaitForRecovery = "WaitForRecovery";

/// Why a job may have no pods, and must give up those that it has.
struct Hold {
  std::string reason, message;
};

std::string message_of(const Workload& workload, const char* condition) {
  const Condition* found = find_condition(workload.conditions, condition);
  return found ? found->message : "";
}

/// Why the Workload isn't admitted, in Kueue's words.
Hold waits(const Reconcile& reconcile, const Workload& workload) {
  std::string why = message_of(workload, kQuotaReserved);
  if (holds(workload.conditions, kQuotaReserved) && !workload.checks.empty()) why = workload.checks;
  std::string text =
      fmt::format("it waits in the queue {}{}{}", queue_of(reconcile), why.empty() ? "" : ": ", why);
  const Condition* evicted = find_condition(workload.conditions, kEvicted);
  if (!evicted || !evicted->holds) return {kQueued, text};
  if (!workload.has_admission)
    return {kEvicted, fmt::format("{}; before, it was evicted: {}", text, evicted->message)};
  return {kEvicted, fmt::format("the queue {} wants its room back ({}): {}", queue_of(reconcile),
                                evicted->reason, evicted->message)};
}

/// Says why the job has no Workload. A refusal by the API server is told until a Workload is made.
Hold has_no_place(const Reconcile& reconcile) {
  if (const std::string fault = fault_of_request(reconcile); !fault.empty()) return {kQueueRefused, fault};
  for (const Refusal& refusal : reconcile.seen.refusals)
    if (refusal.object.starts_with(name_of(Kind::kWorkload)))
      return {kQueueRefused,
              fmt::format("{} is refused by the API server ({}); is Kueue 0.15 or later installed?",
                          refusal.object, refusal.message)};
  const Condition* before = reconcile.condition(kSuspended);
  if (before && (before->reason == kQueueRefused || before->reason == kNameTaken))
    return {before->reason, before->message};
  if (!reconcile.seen.queue_priority) {
    const std::string label = reconcile.job().meta.label(kQueuePriorityLabel);
    return {kQueued, fmt::format("the priority class '{}' does not exist",
                                 label.empty() ? reconcile.job().priority_class : label)};
  }
  if (reconcile.seen.queue && !request_of(reconcile))
    return {kQueued,
            fmt::format("the API server does not say which flavors the queue {} has; it is asked again",
                        queue_of(reconcile))};
  return {kQueued, fmt::format("it joins the queue {}", queue_of(reconcile))};
}

bool is_place_old(const Meta& meta, const Workload& workload, const Reconcile& reconcile) {
  return workload.queue != queue_of(reconcile) ||
         meta.label(kManifestLabel) != reconcile.job().made_of.manifest ||
         is_request_old(workload, reconcile);
}

void release_quota(Reconcile& reconcile, const ObjectView& place) {
  const Workload& workload = *place.workload;
  const Condition* evicted = find_condition(workload.conditions, kEvicted);
  if (!evicted || !evicted->holds || !workload.has_admission) return;
  // After an eviction for another reason, Kueue itself requeues the job once the cause is over.
  const bool is_requeued = evicted->reason == "Preempted" || evicted->reason == "NodeFailures";
  const Moment now = reconcile.now();
  std::vector<Condition> conditions = {
      {kQuotaReserved, false, "Pending", evicted->message, now},
      {kAdmitted, false, "NoReservation", "The workload has no reservation", now},
      {kRequeued, is_requeued, evicted->reason, evicted->message, now}};
  // Resets PodsReady. Otherwise, after the next admission, Kueue would count the time of the start from the
  // beginning of the recovery that the eviction cut short.
  const Condition* ready = find_condition(workload.conditions, kPodsReady);
  if (ready && ready->reason != kWaitForStart)
    conditions.push_back({kPodsReady, false, kWaitForStart, "its pods are gone", now});
  reconcile.patch(Kind::kWorkload, place.meta.name, conditions_patch(place.meta, workload, conditions, true));
}

void join_queue(Reconcile& reconcile) {
  if (place_of(reconcile)) return;  // a foreign Workload has the name
  reconcile.requeue_at(reconcile.now() + kTryAgain);
  const auto request = request_of(reconcile);
  if (!reconcile.seen.queue_priority || !request || !fault_of_request(reconcile).empty()) return;
  reconcile.create(Kind::kWorkload, workload_name(reconcile.name()),
                   workload(reconcile.job(), reconcile.settings, reconcile.gang().servers,
                            *reconcile.seen.queue_priority, *request));
}

/// The condition PodsReady, if Kueue's copy is out of date.
std::optional<Condition> news_of_pods(const Reconcile& reconcile, const Workload& workload) {
  const Condition* said = find_condition(workload.conditions, kPodsReady);
  const bool runs = holds(reconcile.seen.job.status.conditions, kRunning);
  if (runs == (said && said->holds)) return {};
  const bool is_recovery = said && said->reason == kWaitForRecovery;
  if (runs)
    return Condition{kPodsReady, true, is_recovery ? "Recovered" : "Started", "all ranks run",
                     reconcile.now()};
  return Condition{kPodsReady, false, kWaitForRecovery, "ranks are started again", reconcile.now()};
}

bool has_pods_to_go(const Reconcile& reconcile) {
  return reconcile.has_writes() || std::ranges::any_of(reconcile.seen.pods, [&](const PodView& pod) {
           return is_own(pod.meta, reconcile.seen) && pod.is_terminating() && !pod.has_ended();
         });
}

/// The condition Finished of a job that has ended, unless Kueue knows it already.
std::optional<Condition> news_of_end(const Reconcile& reconcile, const Workload& workload) {
  if (holds(workload.conditions, kFinished)) return {};
  const auto& conditions = reconcile.seen.job.status.conditions;
  const char* how = holds(conditions, kSucceeded) ? kSucceeded : kFailed;
  return Condition{kFinished, true, how, find_condition(conditions, how)->message, reconcile.now()};
}

std::optional<Hold> held_by_queue(const Reconcile& reconcile) {
  const std::string queue = queue_of(reconcile);
  if (queue.empty()) return {};
  if (!reconcile.settings.kueue)
    return Hold{kNoKueue,
                fmt::format("the label {} names the queue {}, but Kueue is off in this operator (set the "
                            "chart's kueue.enabled, or remove the label)",
                            kQueueLabel, queue)};
  const ObjectView* place = place_of(reconcile);
  if (!place) return has_no_place(reconcile);
  if (!is_own(place->meta, reconcile.seen))
    return Hold{kNameTaken,
                fmt::format("Workload {} has the name that this job's Workload needs; delete it, or "
                            "rename the job",
                            place->meta.name)};
  if (place->meta.deletion || is_place_old(place->meta, *place->workload, reconcile))
    return has_no_place(reconcile);
  if (holds(place->workload->conditions, kFinished))
    return Hold{kEvicted, "its Workload was declared finished: " + message_of(*place->workload, kFinished)};
  if (!is_admitted(*place->workload)) return waits(reconcile, *place->workload);
  if (!reconcile.job().admitted.unknown.empty())
    return Hold{kQueued, fmt::format("its queue assigned the ResourceFlavor {}, which does not exist",
                                     reconcile.job().admitted.unknown)};
  // An operator of an earlier release ignored assigned nodes. A job that it started there is left to run.
  const std::string fault = fault_of_assigned_nodes(reconcile);
  if (!fault.empty() && !runs(reconcile)) return Hold{kQueued, fault};
  return {};
}

/// Maintains a held job's Workload, once the job has no pods. With `wants_place` there is one that says what
/// the job needs now; without, there is none. An evicted job's reserved quota is given back.
void keep_place(Reconcile& reconcile, bool wants_place) {
  if (!reconcile.settings.kueue) return;
  const ObjectView* place = own_place(reconcile);
  if (!place) {
    if (wants_place) join_queue(reconcile);
  } else if (place->meta.deletion) {
    return;
  } else if (!wants_place || is_place_old(place->meta, *place->workload, reconcile)) {
    reconcile.remove(Kind::kWorkload, place->meta);
  } else {
    if (!reconcile.job().admitted.unknown.empty()) reconcile.requeue_at(reconcile.now() + kTryAgain);
    release_quota(reconcile, *place);
  }
}

}  // namespace

bool is_old_place(const ObjectView& object, const Reconcile& reconcile) {
  return object.kind == Kind::kWorkload && !object.meta.deletion &&
         is_place_old(object.meta, *object.workload, reconcile);
}

void tell_queue(Reconcile& reconcile) {
  const ObjectView* place = own_place(reconcile);
  if (!place || !place->workload || place->meta.deletion || reconcile.job().meta.deletion) return;
  const bool has_ended = ctl::has_ended(reconcile.seen.job.status.conditions);
  if (has_ended && has_pods_to_go(reconcile)) return;  // its pods take room until they are gone
  const bool is_in_queue =
      reconcile.job().job && !reconcile.spec().run_policy.suspend && is_admitted(*place->workload);
  if (!has_ended && !is_in_queue) return;
  const auto news =
      has_ended ? news_of_end(reconcile, *place->workload) : news_of_pods(reconcile, *place->workload);
  if (news)
    reconcile.patch(Kind::kWorkload, place->meta.name,
                    conditions_patch(place->meta, *place->workload, {*news}));
}

// Suspending a job, because its user or its queue wishes it, and resuming it. The launcher is stopped first,
// so that the ranks write a checkpoint. Everything else is stopped after it.

namespace {

/// Stops launchers that still run. Returns whether there are any.
bool dismiss_launchers(Reconcile& reconcile) {
  bool is_any = false;
  for (const PodView* launcher : reconcile.own_pods(kLauncherRole)) {
    if (is_gated(*launcher) || launcher->has_ended()) continue;
    dismiss(reconcile, *launcher);
    is_any = true;
  }
  return is_any;
}

}  // namespace

bool dismiss_all(Reconcile& reconcile) {
  bool is_any = dismiss_mpi_jobs(reconcile);
  for (const PodView& pod : reconcile.seen.pods) {
    if (!is_own(pod.meta, reconcile.seen) || pod.meta.label(kRoleLabel) == kPlaceholderRole) continue;
    dismiss(reconcile, pod);
    is_any = true;
  }
  return is_any;
}

namespace {

std::optional<Hold> held(const Reconcile& reconcile) {
  if (reconcile.spec().run_policy.suspend) return Hold{kSuspended, "runPolicy.suspend is true"};
  return held_by_queue(reconcile);
}

/// Says how the suspension proceeds, or names a pod that should be gone by now and isn't.
std::string how_it_is_suspended(Reconcile& reconcile) {
  for (const PodView& pod : reconcile.seen.pods) {
    const bool is_told = is_own(pod.meta, reconcile.seen) && pod.is_terminating();
    if (is_told && reconcile.await(*pod.meta.deletion + kTimeToGo))
      return fmt::format(
          "pod {} on node {} was stopped and doesn't go (a process that waits for a disk can't be "
          "killed, and a finalizer holds a pod)",
          pod.meta.name, pod.node);
  }
  return "the ranks write a checkpoint, then the pods are deleted";
}

/// Whether the ranks still run, though the status says that they are being suspended. The operator may have
/// died before it told them, or an earlier release took a suspension back and left its reason there.
bool run_on(const Reconcile& reconcile) {
  const PodView* launcher = reconcile.gang().launcher;
  const ObjectView* maker =
      reconcile.find(Kind::kMpiJob, mpi_job_name(reconcile.name(), reconcile.attempt()));
  const bool keeps_pods = reconcile.spec().launcher == Launcher::kAtoll || (maker && !maker->meta.deletion);
  return keeps_pods && reconcile.gang().is_launched && launcher && !launcher->is_terminating() &&
         !launcher->has_ended();
}

}  // namespace

Next resume(Reconcile& reconcile) {
  const bool is_suspending = reconcile.reason_against(kSuspended) == kSuspending;
  if ((!reconcile.holds(kSuspended) && !is_suspending) || held(reconcile)) return Next::kContinue;
  const std::string queue = reconcile.job().meta.label(kQueueLabel);
  if (queue.empty())
    reconcile.say(kSuspended, false, "Resumed", "runPolicy.suspend is false");
  else
    reconcile.say(kSuspended, false, kAdmitted, "the queue " + queue + " has room for it");
  if (is_suspending && run_on(reconcile)) return Next::kDone;
  // A launcher that was told to stop is a leftover. Its end counts neither as a restart nor as a failure.
  if (reconcile.holds(kRunning))
    reconcile.say(kRunning, false, kStarting, "the ranks were told to stop, and start again");
  reconcile.end_attempt();
  return Next::kDone;
}

Next suspend(Reconcile& reconcile) {
  const auto hold = held(reconcile);
  if (!hold) return Next::kContinue;
  if (dismiss_launchers(reconcile) || dismiss_all(reconcile)) {
    take_progress(reconcile);  // this attempt reports nothing more
    reconcile.say(kSuspended, false, kSuspending, how_it_is_suspended(reconcile) + ": " + hold->message);
    return Next::kDone;
  }
  for (const char* condition : {kPlaced, kRunning, kRestarting})
    reconcile.say(condition, false, kSuspended, hold->message);
  reconcile.say(kSuspended, true, hold->reason, hold->message);
  reconcile.status.servers.clear();
  reconcile.status.start.reset();  // deadlines count from the next start
  keep_place(reconcile, !reconcile.spec().run_policy.suspend);
  return Next::kDone;
}

}  // namespace atl::ctl
