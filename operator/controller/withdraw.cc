// Taking pods away again.
#include "operator/controller/steps.h"

#include "operator/objects/names.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

constexpr Seconds kSlack{5};  // within which a living kubelet removes a pod whose grace is over

bool answers(const Reconcile& reconcile, const std::string& node) {
  const auto found = reconcile.seen.nodes.find(node);
  return found != reconcile.seen.nodes.end() && found->second.ready;
}

}  // namespace

void dismiss(Reconcile& reconcile, const PodView& pod, std::optional<int> grace) {
  if (!pod.is_terminating()) return reconcile.remove(Kind::kPod, pod.meta, grace);
  const Moment hangs = *pod.meta.deletion + kSlack;
  if (!pod.is_bound() || answers(reconcile, pod.node)) return;
  if (reconcile.now() < hangs) return reconcile.requeue_at(hangs);
  reconcile.remove(Kind::kPod, pod.meta, 0);
}

void give_up_plan(Reconcile& reconcile, const char* reason, const std::string& message) {
  if (reconcile.reason_against(kPlaced) != reason) ++reconcile.status.withdrawals;
  reconcile.say(kPlaced, false, reason, message);
}

void withdraw(Reconcile& reconcile, const std::string& message) {
  give_up_plan(reconcile, kWithdrawn, message);
  if (reconcile.spec().launcher == Launcher::kMpiJob)
    reconcile.end_attempt();  // then all its pods are leftovers
  else
    dismiss_withdrawn(reconcile);
}

void dismiss_withdrawn(Reconcile& reconcile) {
  if (reconcile.reason_against(kPlaced) != kWithdrawn) return;
  for (const PodView* worker : reconcile.gang().workers)
    if (worker && !is_gated(*worker)) dismiss(reconcile, *worker);
  // A pin can't be changed, and the next plan's nodes aren't known yet.
  const PodView* launcher = reconcile.gang().launcher;
  if (launcher && !launcher->pinned.empty()) dismiss(reconcile, *launcher);
}

// Leftovers of an earlier attempt, a withdrawal or another manifest. They go before anything new comes.

namespace {

/// A launcher of an attempt that was given up has nothing left to save.
constexpr int kGraceOfTheGivenUp = 10;

/// The last one that failed stays for its log.
bool is_kept_for_its_log(const PodView& launcher, const Reconcile& reconcile) {
  return launcher.has_ended() && !launcher.is_terminating() &&
         launcher.meta.label(kAttemptLabel) == std::to_string(reconcile.attempt() - 1);
}

/// ConfigMaps of ours that no pod will need again, and a Workload in a queue that the job has left.
bool is_outdated(const ObjectView& object, const Reconcile& reconcile) {
  if (is_old_place(object, reconcile)) return true;
  if (object.kind != Kind::kConfigMap) return false;
  const std::string& job = reconcile.name();
  const std::string digest = reconcile.job().made_of.manifest;
  return object.meta.name != job_map_name(job, digest) &&
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
  if (prepare &&
      reconcile.find(Kind::kConfigMap, prepared_map_name(reconcile.name(), reconcile.job().made_of.prepared)))
    dismiss(reconcile, *prepare);
  return done_if(reconcile.has_writes());
}

}  // namespace atl::ctl
