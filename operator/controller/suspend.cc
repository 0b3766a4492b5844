// Suspending a job, as its user wishes or its queue: the launcher first, which has the ranks write a checkpoint, then
// everything else. And resuming.
#include "operator/controller/mpi_job.h"
#include "operator/controller/questions.h"
#include "operator/controller/queue.h"
#include "operator/controller/withdraw.h"
#include "operator/objects/names.h"
#include "operator/objects/release.h"

namespace atl::ctl {
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
