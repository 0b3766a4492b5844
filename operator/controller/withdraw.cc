#include "operator/controller/withdraw.h"

#include "operator/controller/mpi_job.h"
#include "operator/controller/questions.h"
#include "operator/controller/queue.h"
#include "operator/objects/names.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

constexpr Seconds kSlack{5};  // a living kubelet removes a pod within it once its grace is over

bool answers(const Turn& turn, const std::string& node) {
  const auto found = turn.seen.nodes.find(node);
  return found != turn.seen.nodes.end() && found->second.ready;
}

}  // namespace

void dismiss(Turn& turn, const PodView& pod, std::optional<int> grace) {
  if (!pod.is_terminating()) return turn.remove(Kind::kPod, pod.meta, grace);
  const Moment hangs = *pod.meta.deletion + kSlack;
  if (!pod.is_bound() || answers(turn, pod.node)) return;
  if (turn.now() < hangs) return turn.look_at(hangs);
  turn.remove(Kind::kPod, pod.meta, 0);
}

void give_up_plan(Turn& turn, const char* reason, const std::string& message) {
  if (turn.reason_against(kPlaced) != reason) ++turn.status.withdrawals;
  turn.say(kPlaced, false, reason, message);
}

void withdraw(Turn& turn, const std::string& message) {
  give_up_plan(turn, kWithdrawn, message);
  if (turn.spec().launcher == Launcher::kMpiJob)
    turn.end_attempt();  // all of it is a leftover then
  else
    dismiss_withdrawn(turn);
}

void dismiss_withdrawn(Turn& turn) {
  if (turn.reason_against(kPlaced) != kWithdrawn) return;
  for (const PodView* worker : turn.gang().workers)
    if (worker && !is_gated(*worker)) dismiss(turn, *worker);
  // A pin can't be changed, and what the next plan says is not known yet.
  const PodView* launcher = turn.gang().launcher;
  if (launcher && !launcher->pinned.empty()) dismiss(turn, *launcher);
}

// What an earlier attempt, a withdrawal or another manifest has left behind. It goes before anything new comes.

namespace {

/// A launcher of an attempt that was given up has nothing left to save.
constexpr int kGraceOfTheGivenUp = 10;

/// The last one that failed stays for its log.
bool is_kept_for_its_log(const PodView& launcher, const Turn& turn) {
  return launcher.has_ended() && !launcher.is_terminating() &&
         launcher.meta.label(kAttemptLabel) == std::to_string(turn.attempt() - 1);
}

/// ConfigMaps of ours that no pod will need again, and a place in a queue that the job has left.
bool is_outdated(const ObjectView& object, const Turn& turn) {
  if (is_old_place(object, turn)) return true;
  if (object.kind != Kind::kConfigMap) return false;
  const std::string& job = turn.name();
  const std::string digest = turn.job().made_of.manifest;
  return object.meta.name != job_map_name(job, digest) &&
         object.meta.name != prepared_map_name(job, turn.job().made_of.prepared) &&
         object.meta.name != attempt_map_name(job, turn.attempt());
}

}  // namespace

bool has_leftovers(Turn& turn) {
  dismiss_mpi_jobs(turn, mpi_job_name(turn.name(), turn.attempt()));
  dismiss_withdrawn(turn);
  for (const PodView* worker : turn.gang().spent) dismiss(turn, *worker);
  for (const PodView* launcher : turn.gang().earlier_launchers)
    if (!is_kept_for_its_log(*launcher, turn)) dismiss(turn, *launcher, kGraceOfTheGivenUp);
  for (const ObjectView& object : turn.seen.objects)
    if (is_own(object.meta, turn.seen) && is_outdated(object, turn)) turn.remove(object.kind, object.meta);
  const PodView* prepare = turn.gang().prepare;
  if (prepare && turn.find(Kind::kConfigMap, prepared_map_name(turn.name(), turn.job().made_of.prepared)))
    dismiss(turn, *prepare);
  return turn.has_writes();
}

}  // namespace atl::ctl
