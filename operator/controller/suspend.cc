// Suspending a job: the launcher first, which has the ranks write a checkpoint, then everything else. And resuming.
#include "operator/controller/mpi_job.h"
#include "operator/controller/questions.h"
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

}  // namespace

bool is_resumed(Turn& turn) {
  if (turn.spec().run_policy.suspend || !turn.holds(kSuspended)) return false;
  turn.say(kSuspended, false, "Resumed", "runPolicy.suspend is false");
  turn.end_attempt();
  return true;
}

bool is_suspended(Turn& turn) {
  if (!turn.spec().run_policy.suspend) return false;
  if (dismiss_launchers(turn) || dismiss_all(turn)) {
    turn.say(kSuspended, false, "Suspending", "the ranks write a checkpoint, then the pods go");
    return true;
  }
  const std::string why = "runPolicy.suspend is true";
  for (const char* condition : {kPlaced, kRunning, kRestarting}) turn.say(condition, false, kSuspended, why);
  turn.say(kSuspended, true, kSuspended, why);
  turn.status.servers.clear();
  turn.status.start.reset();  // deadlines count from the next start
  return true;
}

}  // namespace atl::ctl
