// The beginning and the end of a job: is it one at all, has it completed, is its time up, and what is done once it has
// ended.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "operator/api/messages.h"
#include "operator/controller/incident.h"
#include "operator/controller/mpi_job.h"
#include "operator/controller/questions.h"
#include "operator/controller/withdraw.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/release.h"
#include "operator/objects/template.h"

namespace atl::ctl {
namespace {

/// What the engine takes on one machine and a cluster can't do.
std::vector<std::string> faults_on_cluster(const Job& job, const Settings& settings) {
  std::vector<std::string> faults = template_faults(job, settings);
  if (job.dataset.volume.empty())
    faults.emplace_back(
        "dataset.volume: is required on a cluster (name a volume that all pods can mount and that holds "
        "the data root)");
  if (job.launcher == Launcher::kMpiJob)
    std::ranges::move(mpi_job_faults(job, settings), std::back_inserter(faults));
  return faults;
}

/// Its MPIJobs are not watched, by an operator that was restarted without what the one before it had been told: no fault of
/// a job which that one took.
bool is_out_of_sight(const Turn& turn) {
  return turn.spec().launcher == Launcher::kMpiJob && !turn.settings.mpi_jobs &&
         !turn.job().status.conditions.empty();
}

constexpr const char* kNewer = "NewerManifest";

/// Fields of a later release say something that only that one heeds. A job that was taken before they came goes on without
/// them: they are what the API server fills in.
bool is_of_later_release(const Turn& turn) {
  const bool is_new = turn.seen.job.status.conditions.empty() || turn.reason_against(kCreated) == kNewer;
  return is_new && !turn.job().unknown.empty();
}

/// Which pods go when a job has ended. A launcher that still runs is stopped in any case, and gated pods are nobody's
/// evidence.
bool is_to_go(const PodView& pod, CleanPodPolicy policy) {
  if (policy == CleanPodPolicy::kAll || is_gated(pod)) return true;
  if (pod.has_ended()) return false;
  return policy == CleanPodPolicy::kRunning || pod.meta.label(kRoleLabel) == kLauncherRole;
}

/// An MPIJob stays with what is kept of its pods, but not while it would make more of them.
void dismiss_needless_mpi_jobs(Turn& turn, CleanPodPolicy policy) {
  const bool has_launcher_ended = std::ranges::any_of(turn.seen.pods, [&](const PodView& pod) {
    return is_own(pod.meta, turn.seen) && pod.meta.label(kRoleLabel) == kLauncherRole && pod.has_ended();
  });
  const bool is_kept = has_launcher_ended && policy != CleanPodPolicy::kAll;
  dismiss_mpi_jobs(turn, is_kept ? mpi_job_name(turn.name(), turn.attempt()) : "");
}

}  // namespace

bool is_being_deleted(Turn& turn) {
  return turn.job().meta.deletion.has_value();  // what it owns goes after it
}

bool has_ended(Turn& turn) {
  if (!has_ended(turn.status.conditions)) return false;
  const RunPolicySpec policy = turn.job().job ? turn.spec().run_policy : RunPolicySpec{};
  dismiss_needless_mpi_jobs(turn, policy.clean_pod_policy);
  for (const PodView& pod : turn.seen.pods)
    if (is_own(pod.meta, turn.seen) && is_to_go(pod, policy.clean_pod_policy)) dismiss(turn, pod);
  if (policy.ttl_seconds_after_finished < 0 || !turn.status.completion) return true;
  const Moment end = *turn.status.completion + Seconds(policy.ttl_seconds_after_finished);
  if (turn.now() >= end)
    turn.remove(Kind::kJob, turn.job().meta);
  else
    turn.look_at(end);
  return true;
}

bool has_completed(Turn& turn) {
  for (const PodView& pod : turn.seen.pods) {
    const bool is_launcher = is_own(pod.meta, turn.seen) && pod.meta.label(kRoleLabel) == kLauncherRole;
    if (!is_launcher || pod.phase != "Succeeded") continue;
    const ContainerView* engine = pod.container(kEngine);
    const auto result = read_launch_result(engine ? engine->message : "");
    if (result) turn.status.result = result->result;
    if (result && result->epochs) turn.status.progress.epoch = result->epochs;
    turn.status.progress.eta.clear();
    const std::string outcome = result && !result->outcome.empty() ? result->outcome : "completed";
    turn.say(kRunning, false, "Completed", "training has ended: " + outcome);
    turn.say(kRestarting, false, "Completed", "training has ended: " + outcome);
    turn.say(kSucceeded, true, "Completed", outcome);
    turn.status.completion = turn.now();
    return true;
  }
  return false;
}

bool is_unfit(Turn& turn) {
  if (is_of_later_release(turn)) {
    turn.say(
        kCreated, false, kNewer,
        fmt::format("this operator doesn't know {}: the resource GNNJob is of a later release (upgrade the "
                    "operator too)",
                    fmt::join(turn.job().unknown, ", ")));
    return true;
  }
  if (!turn.job().job) {
    fail_job(turn, "InvalidSpec", turn.job().refusal);
    return true;
  }
  if (is_out_of_sight(turn)) {
    turn.say(kCreated, false, "NoMpiOperator",
             "launcher: mpijob is off in this operator, so the job is left as it is (set the chart's "
             "mpiJobs.enabled)");
    return true;
  }
  const auto faults = faults_on_cluster(turn.spec(), turn.settings);
  if (faults.empty()) return false;
  fail_job(turn, "InvalidSpec", fmt::format("{}", fmt::join(faults, "\n")));
  return true;
}

bool is_past_deadline(Turn& turn) {
  const auto seconds = turn.spec().run_policy.active_deadline_seconds;
  if (seconds == 0 || !turn.status.start) return false;
  const Moment end = *turn.status.start + Seconds(seconds);
  turn.look_at(end);
  if (turn.now() < end) return false;
  fail_job(turn, "DeadlineExceeded",
           fmt::format("it ran for {} s (runPolicy.activeDeadlineSeconds)", seconds));
  return true;
}

}  // namespace atl::ctl
