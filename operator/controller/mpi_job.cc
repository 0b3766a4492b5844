#include "operator/controller/mpi_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "operator/controller/incident.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

constexpr Seconds kTimeToMakePods{30};

/// Pods of an attempt before have the room that their successors are to have, unless their node is lost.
bool is_room_held(const Reconcile& reconcile) {
  return std::ranges::any_of(reconcile.gang().replaced, [&](const PodView* pod) {
    return pod->is_bound() && !pod->has_ended() &&
           !is_node_lost(pod->node, reconcile.seen, reconcile.settings);
  });
}

void watch_over(Reconcile& reconcile, const ObjectView& mpi_job) {
  const GangView& gang = reconcile.gang();
  if (!mpi_job.failure.empty() && !gang.launcher)  // and none will come
    return restart(reconcile, {"Deleted", {}, mpi_job.meta.name + " has failed: " + mpi_job.failure});
  const Moment end = made_at(mpi_job.meta).value_or(reconcile.now()) + kTimeToMakePods;
  if (reconcile.now() < end) return reconcile.requeue_at(end);
  const auto workers = std::ranges::count_if(gang.workers, [](const PodView* worker) { return worker; });
  reconcile.say(
      kCreated, false, "NoMpiOperator",
      fmt::format("MPIJob {} has {} of {} workers and {} launcher; mpi-operator makes them: check that it "
                  "runs, and what kubectl describe says of the MPIJob",
                  mpi_job.meta.name, workers, gang.workers.size(), gang.launcher ? "a" : "no"));
}

}  // namespace

void have_pods_made(Reconcile& reconcile) {
  const GangView& gang = reconcile.gang();
  const std::string name = mpi_job_name(reconcile.name(), reconcile.attempt());
  const ObjectView* made = reconcile.find(Kind::kMpiJob, name);
  if (made && (!gang.is_complete() || !gang.launcher))
    watch_over(reconcile, *made);
  else if (!made && !is_room_held(reconcile))
    reconcile.create(
        Kind::kMpiJob, name,
        mpi_job(reconcile.job(), reconcile.settings, reconcile.attempt(), gang.servers, reconcile.now()));
}

bool dismiss_mpi_jobs(Reconcile& reconcile, const std::string& kept) {
  bool is_any = false;
  for (const ObjectView& object : reconcile.seen.objects) {
    if (object.kind != Kind::kMpiJob || object.meta.name == kept || !is_own(object.meta, reconcile.seen))
      continue;
    if (!object.meta.deletion) reconcile.remove(object.kind, object.meta);
    is_any = true;
  }
  if (is_any) reconcile.next_stage();
  return is_any;
}

}  // namespace atl::ctl
