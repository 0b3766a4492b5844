// Attempts that are over: the end is recorded and counted, and the next attempt waits for its backoff.
#include <algorithm>

#include "operator/api/messages.h"
#include "operator/controller/reconcile.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

constexpr Seconds kFirstBackoff{10}, kLongestBackoff{300}, kRecent{1200};
constexpr Seconds kNodeSettles{60};  // a silent node is by default called NotReady after 50 s
constexpr Seconds kPodTells{5};      // from the launcher's report of a rank's end to its pod's

/// Until when pods that are terminating may go on, because their ranks first write a checkpoint.
std::optional<Moment> time_to_leave(const Reconcile& reconcile) {
  const GangView& gang = reconcile.gang();
  std::optional<Moment> until;
  auto look = [&](const PodView* pod) {
    if (!pod || !is_leaving(*pod, reconcile.seen, reconcile.settings)) return;
    until = std::max(until.value_or(Moment{}), *pod->meta.deletion);
  };
  look(gang.launcher);
  if (!gang.is_complete())
    for (const PodView* pod : gang.replaced) look(pod);
  return until;
}

bool has_launcher_ended(const Reconcile& reconcile) {
  const PodView* launcher = reconcile.gang().launcher;
  return launcher && !loss_of(*launcher, reconcile.seen, reconcile.settings).empty();
}

/// The backoff before the next start. There is none after a single restart; after several in a short time,
/// for any reasons, it is 10 s, 20 s, … 300 s.
Seconds backoff(const Reconcile& reconcile) {
  const auto& restarts = reconcile.status.restarts;
  const auto recent = std::ranges::count_if(
      restarts, [&](const Restart& restart) { return restarts.back().time - restart.time < kRecent; });
  if (recent < 2) return Seconds(0);
  const Seconds base = kFirstBackoff * (1LL << (recent - 2));
  return std::min(base, kLongestBackoff) + jitter(reconcile, restarts.back().time, Seconds(3));
}

/// How long to wait for more news of an attempt's end. A server that doesn't answer may be on a failed node.
/// If the next attempt began now, it could be placed on that node and be lost as well. If a rank was killed,
/// perhaps for its memory use, the supervisor in its pod knows why, and reports it a moment later.
Seconds time_to_settle(const Reconcile& reconcile, Incident& incident) {
  const Culprit& culprit = incident.culprit;
  if (incident.reason == "Signal" && culprit.signal == "SIGKILL") {
    const bool serves = std::ranges::any_of(reconcile.gang().workers, [&](const PodView* worker) {
      return worker && worker->meta.name == culprit.pod;
    });
    return serves ? kPodTells : Seconds(0);
  }
  if (incident.reason != kLost || culprit.node.empty()) return Seconds(0);
  const auto node = reconcile.seen.nodes.find(culprit.node);
  if (node != reconcile.seen.nodes.end() && node->second.ready) return kNodeSettles;
  incident.reason = "NodeLost";
  return Seconds(0);
}

bool let_settle(Reconcile& reconcile, Incident& incident) {
  const Seconds patience = time_to_settle(reconcile, incident);
  if (patience == Seconds(0)) return true;
  reconcile.say(kRunning, false, incident.reason, incident.message + "; more may be known of it soon");
  return reconcile.await(reconcile.since(kRunning) + patience);
}

}  // namespace

Next restart_lost_attempt(Reconcile& reconcile) {
  if (!reconcile.gang().is_launched) return Next::kContinue;
  const auto leaving = time_to_leave(reconcile);
  if (leaving && !has_launcher_ended(reconcile)) {
    reconcile.requeue_at(*leaving);
    return Next::kDone;
  }
  auto incident = incident_of(reconcile);
  if (!incident) return Next::kContinue;
  if (let_settle(reconcile, *incident)) restart(reconcile, *incident);
  return Next::kDone;
}

Next restart_failed_worker(Reconcile& reconcile) {
  if (reconcile.gang().is_launched) return Next::kContinue;
  for (const PodView* pod : reconcile.gang().replaced) {
    const std::string loss = loss_of(*pod, reconcile.seen, reconcile.settings);
    // A pod that was made before the last restart ended together with its attempt, which is counted.
    const bool is_known = is_counted(reconcile.status, *pod) ||
                          pod->meta.annotation(kAfterRestartAnnotation) != last_restart(reconcile.status);
    // Most lost pods are replaced at once. But a kubelet may reject one pod after the other, so a rejection
    // is recorded as a restart, and the next try waits.
    const bool needs_no_entry = is_disruption(loss) && loss != "Rejected";
    if (loss.empty() || needs_no_entry || is_known) continue;
    restart(reconcile, worker_incident(*pod, reconcile));
    return Next::kDone;
  }
  return Next::kContinue;
}

Next back_off(Reconcile& reconcile) {
  if (reconcile.status.restarts.empty()) return Next::kContinue;
  return done_if(!reconcile.await(reconcile.status.restarts.back().time + backoff(reconcile)));
}

}  // namespace atl::ctl
