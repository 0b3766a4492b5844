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
bool is_room_held(const Turn& turn) {
  return std::ranges::any_of(turn.gang().spent, [&](const PodView* pod) {
    return pod->is_bound() && !pod->has_ended() && !is_node_lost(pod->node, turn.seen, turn.settings);
  });
}

void watch_over(Turn& turn, const ObjectView& mpi_job) {
  const GangView& gang = turn.gang();
  if (!mpi_job.failure.empty() && !gang.launcher)  // and none will come
    return restart(turn, {"Deleted", {}, mpi_job.meta.name + " has failed: " + mpi_job.failure});
  const Moment end = made_at(mpi_job.meta).value_or(turn.now()) + kTimeToMakePods;
  if (turn.now() < end) return turn.look_at(end);
  const auto workers = std::ranges::count_if(gang.workers, [](const PodView* worker) { return worker; });
  turn.say(
      kCreated, false, "NoMpiOperator",
      fmt::format("MPIJob {} has {} of {} workers and {} launcher; mpi-operator makes them: check that it "
                  "runs, and what kubectl describe says of the MPIJob",
                  mpi_job.meta.name, workers, gang.workers.size(), gang.launcher ? "a" : "no"));
}

}  // namespace

void have_pods_made(Turn& turn) {
  const GangView& gang = turn.gang();
  const std::string name = mpi_job_name(turn.name(), turn.attempt());
  const ObjectView* made = turn.find(Kind::kMpiJob, name);
  if (made && (!gang.is_complete() || !gang.launcher))
    watch_over(turn, *made);
  else if (!made && !is_room_held(turn))
    turn.create(Kind::kMpiJob, name,
                mpi_job(turn.job(), turn.settings, turn.attempt(), gang.servers, turn.now()));
}

bool dismiss_mpi_jobs(Turn& turn, const std::string& kept) {
  bool is_any = false;
  for (const ObjectView& object : turn.seen.objects) {
    if (object.kind != Kind::kMpiJob || object.meta.name == kept || !is_own(object.meta, turn.seen)) continue;
    if (!object.meta.deletion) turn.remove(object.kind, object.meta);
    is_any = true;
  }
  if (is_any) turn.next_stage();
  return is_any;
}

}  // namespace atl::ctl
