// Whether a job is valid, and whether it has completed or is out of time; the clean-up after its end.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "job/strategies.h"
#include "operator/api/messages.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/template.h"

namespace atl::ctl {
namespace {

/// Whether the operator can't watch the job's MPIJobs, because it was restarted without the setting mpi_jobs
/// that its predecessor had. A job that the predecessor accepted isn't failed for that.
bool is_out_of_sight(const Reconcile& reconcile) {
  return reconcile.spec().launcher == Launcher::kMpiJob && !reconcile.settings.mpi_jobs &&
         !reconcile.job().status.conditions.empty();
}

/// Whether the manifest has fields of a later release. Only that release would do what they say, so a new job
/// with them isn't started. A job that was accepted before these fields existed goes on, because the API
/// server has only filled in their defaults.
bool is_of_later_release(const Reconcile& reconcile) {
  return is_new(reconcile) && !reconcile.job().unknown.empty();
}

/// Whether a pod is deleted when its job has ended. A launcher that still runs is always stopped. A gated pod
/// is always deleted, because it holds no evidence. Placeholders are deleted by end_needless_request().
bool is_to_go(const PodView& pod, CleanPodPolicy policy) {
  if (pod.meta.label(kRoleLabel) == kPlaceholderRole) return false;
  if (policy == CleanPodPolicy::kAll || is_gated(pod)) return true;
  if (pod.has_ended()) return false;
  return policy == CleanPodPolicy::kRunning || pod.meta.label(kRoleLabel) == kLauncherRole;
}

/// The policy that is applied. Kueue gives the quota of a job that has ended to other jobs. So none of its
/// pods may run on, not even workers that the policy None would keep.
CleanPodPolicy clean_pod_policy(const Reconcile& reconcile, const RunPolicySpec& policy) {
  const bool keeps_all = policy.clean_pod_policy == CleanPodPolicy::kNone;
  return keeps_all && own_place(reconcile) ? CleanPodPolicy::kRunning : policy.clean_pod_policy;
}

/// Keeps the present attempt's MPIJob as long as some of its pods are kept, unless it would make new pods.
void dismiss_needless_mpi_jobs(Reconcile& reconcile, CleanPodPolicy policy) {
  const bool has_launcher_ended = std::ranges::any_of(reconcile.own_pods(kLauncherRole), &PodView::has_ended);
  const bool is_kept = has_launcher_ended && policy != CleanPodPolicy::kAll;
  dismiss_mpi_jobs(reconcile, is_kept ? mpi_job_name(reconcile.name(), reconcile.attempt()) : "");
}

/// Ends the job for good. `how` is kSucceeded or kFailed. The conditions that become false say `why`.
void end_job(Reconcile& reconcile, const char* how, const std::string& reason, const std::string& message,
             const std::string& why) {
  reconcile.say(kRunning, false, reason, why);
  reconcile.say(kRestarting, false, reason, why);
  end_request(reconcile, reason, why);
  if (reconcile.holds(kDeletionRefused)) reconcile.say(kDeletionRefused, false, reason, why);
  reconcile.say(how, true, reason, message);
  reconcile.status.completion = reconcile.now();
  reconcile.status.findings.clear();
}

}  // namespace

void fail_job(Reconcile& reconcile, const std::string& reason, const std::string& message) {
  end_job(reconcile, kFailed, reason, message, message);
}

Next leave_what_is_deleted(Reconcile& reconcile) {
  return done_if(reconcile.job().meta.deletion.has_value());  // the job's objects are deleted after the job
}

Next clean_up(Reconcile& reconcile) {
  if (!has_ended(reconcile.status.conditions)) return Next::kContinue;
  const RunPolicySpec policy = reconcile.job().job ? reconcile.spec().run_policy : RunPolicySpec{};
  const CleanPodPolicy who_goes = clean_pod_policy(reconcile, policy);
  dismiss_needless_mpi_jobs(reconcile, who_goes);
  for (const PodView& pod : reconcile.seen.pods)
    if (is_own(pod.meta, reconcile.seen) && is_to_go(pod, who_goes)) dismiss(reconcile, pod);
  if (policy.ttl_seconds_after_finished < 0 || !reconcile.status.completion) return Next::kDone;
  const Moment end = *reconcile.status.completion + stated_time(policy.ttl_seconds_after_finished);
  if (reconcile.await(end)) reconcile.remove(Kind::kJob, reconcile.job().meta);
  return Next::kDone;
}

Next complete(Reconcile& reconcile) {
  for (const PodView* launcher : reconcile.own_pods(kLauncherRole)) {
    if (launcher->phase != "Succeeded") continue;
    const ContainerView* engine = launcher->container(kEngine);
    const auto result = read_launch_result(engine ? engine->message : "");
    take_progress(reconcile);  // the status may be behind
    if (result) reconcile.status.result = result->result;
    if (result && result->epochs) reconcile.status.progress.epoch = result->epochs;
    reconcile.status.progress.eta.clear();
    const std::string outcome = result && !result->outcome.empty() ? result->outcome : "completed";
    const std::string why = "training has ended: " + outcome;
    if (reconcile.reason_against(kSuspended) == kSuspending)
      reconcile.say(kSuspended, false, "Completed", why);
    end_job(reconcile, kSucceeded, "Completed", outcome, why);
    return Next::kDone;
  }
  return Next::kContinue;
}

Next refuse_unfit(Reconcile& reconcile) {
  if (is_of_later_release(reconcile)) {
    if (const std::string misspelt = misspelt_fields(reconcile.job()); !misspelt.empty()) {
      fail_job(reconcile, "InvalidSpec", misspelt);
      return Next::kDone;
    }
    reconcile.say(
        kCreated, false, kNewer,
        fmt::format("this operator doesn't know {}: the resource GNNJob is of a later release (upgrade the "
                    "operator too)",
                    joined(reconcile.job().unknown, ", ")));
    return Next::kDone;
  }
  if (!reconcile.job().job) {
    fail_job(reconcile, "InvalidSpec", reconcile.job().refusal);
    return Next::kDone;
  }
  if (is_out_of_sight(reconcile)) {
    reconcile.say(kCreated, false, "NoMpiOperator",
                  "launcher: mpijob is off in this operator, so the job is left as it is (set the chart's "
                  "mpiJobs.enabled)");
    return Next::kDone;
  }
  const auto faults = faults_on_cluster(reconcile.spec(), reconcile.settings, is_new(reconcile));
  if (faults.empty()) return Next::kContinue;
  fail_job(reconcile, "InvalidSpec", joined(faults, "\n"));
  return Next::kDone;
}

Next fail_past_deadline(Reconcile& reconcile) {
  const auto seconds = reconcile.spec().run_policy.active_deadline_seconds;
  if (seconds == 0 || !reconcile.status.start) return Next::kContinue;
  const Moment end = *reconcile.status.start + stated_time(seconds);
  if (!reconcile.await(end)) return Next::kContinue;
  take_progress(reconcile);  // the status may be behind, and nothing comes after this
  fail_job(reconcile, "DeadlineExceeded",
           fmt::format("it ran for {} s (runPolicy.activeDeadlineSeconds)", seconds));
  return Next::kDone;
}

}  // namespace atl::ctl
