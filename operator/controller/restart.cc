// Attempts that are over: what ended them is entered and counted, the next one waits its time.
#include <algorithm>

#include "operator/api/messages.h"
#include "operator/controller/incident.h"
#include "operator/controller/questions.h"
#include "operator/controller/turn.h"
#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

constexpr Seconds kFirstBackoff{10}, kLongestBackoff{300}, kRecent{1200};
constexpr Seconds kNodeSettles{60};  // by default a silent node is called NotReady after 50 s
constexpr Seconds kPodTells{5};      // from a rank's end by its launcher's word to its pod's by kubelet's

/// Pods that are asked to leave have their ranks write a checkpoint first: the moment up to which they may.
std::optional<Moment> time_to_leave(const Turn& turn) {
  const GangView& gang = turn.gang();
  std::optional<Moment> until;
  auto look = [&](const PodView* pod) {
    if (!pod || !is_leaving(*pod, turn.seen, turn.settings)) return;
    until = std::max(until.value_or(Moment{}), *pod->meta.deletion);
  };
  look(gang.launcher);
  if (!gang.is_complete())
    for (const PodView* pod : gang.spent) look(pod);
  return until;
}

bool has_launcher_ended(const Turn& turn) {
  const PodView* launcher = turn.gang().launcher;
  return launcher && !loss_of(*launcher, turn.seen, turn.settings).empty();
}

/// Before the next start: nothing, unless there have been several in a short time, whatever their reason: then 10 s,
/// 20 s, … 300 s.
Seconds backoff(const Turn& turn) {
  const auto& restarts = turn.status.restarts;
  const auto recent = std::ranges::count_if(
      restarts, [&](const Restart& restart) { return restarts.back().time - restart.time < kRecent; });
  if (recent < 2) return Seconds(0);
  const Seconds base = kFirstBackoff * (1LL << (recent - 2));
  return std::min(base, kLongestBackoff) + jitter(turn, restarts.back().time, Seconds(3));
}

/// How long it may take until more is known of what ended the attempt. A server that doesn't answer, on a node that may have
/// failed too: were the next attempt to begin now, it would begin there and be lost as well. A rank that was killed, perhaps
/// for memory: its pod's supervisor knows.
Seconds time_to_settle(const Turn& turn, Incident& incident) {
  const Culprit& culprit = incident.culprit;
  if (incident.reason == "Signal" && culprit.signal == "SIGKILL") {
    const bool serves = std::ranges::any_of(turn.gang().workers, [&](const PodView* worker) {
      return worker && worker->meta.name == culprit.pod;
    });
    return serves ? kPodTells : Seconds(0);
  }
  if (incident.reason != kLost || culprit.node.empty()) return Seconds(0);
  const auto node = turn.seen.nodes.find(culprit.node);
  if (node != turn.seen.nodes.end() && node->second.ready) return kNodeSettles;
  incident.reason = "NodeLost";
  return Seconds(0);
}

bool is_settled(Turn& turn, Incident& incident) {
  const Seconds patience = time_to_settle(turn, incident);
  if (patience == Seconds(0)) return true;
  turn.say(kRunning, false, incident.reason, incident.message + "; more may be known of it soon");
  const Moment end = turn.since(kRunning) + patience;
  turn.look_at(end);
  return turn.now() >= end;
}

}  // namespace

bool is_attempt_over(Turn& turn) {
  if (!turn.gang().is_launched) return false;
  const auto leaving = time_to_leave(turn);
  if (leaving && !has_launcher_ended(turn)) {
    turn.look_at(*leaving);
    return true;
  }
  auto incident = incident_of(turn);
  if (!incident) return false;
  if (is_settled(turn, *incident)) restart(turn, *incident);
  return true;
}

bool has_worker_failed(Turn& turn) {
  if (turn.gang().is_launched) return false;
  for (const PodView* pod : turn.gang().spent) {
    const std::string loss = loss_of(*pod, turn.seen, turn.settings);
    // Made before the last restart: it ended with the attempt that did.
    const bool is_known = is_counted(turn.status, *pod) ||
                          pod->meta.annotation(kAfterRestartAnnotation) != last_restart(turn.status);
    // Others are replaced at once; a kubelet may reject one pod after the other, so that is entered, and waits.
    const bool needs_no_entry = is_disruption(loss) && loss != "Rejected";
    if (loss.empty() || needs_no_entry || is_known) continue;
    restart(turn, worker_incident(*pod, turn));
    return true;
  }
  return false;
}

bool is_backing_off(Turn& turn) {
  if (turn.status.restarts.empty()) return false;
  const Moment next = turn.status.restarts.back().time + backoff(turn);
  if (turn.now() >= next) return false;
  turn.look_at(next);
  return true;
}

}  // namespace atl::ctl
