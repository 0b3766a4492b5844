// The gang's pods: a worker for each server and a launcher, all gated. A pod that was lost has a successor of another
// name.
#include <algorithm>

#include "operator/controller/mpi_job.h"
#include "operator/controller/questions.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

/// Higher than that of any pod which goes or has ended, and than any that an earlier attempt may have had. Asked for a
/// server without a worker, whose pods are all among the spent.
int next_incarnation(const Turn& turn, std::size_t server) {
  int next = turn.attempt() - 1;
  for (const PodView* pod : turn.gang().spent) {
    const std::string number = pod->meta.label(kIncarnationLabel);
    if (pod->meta.label(kServerLabel) == std::to_string(server) && !number.empty())
      next = std::max(next, std::stoi(number) + 1);
  }
  return next;
}

void make_worker(Turn& turn, std::size_t server) {
  const int incarnation = next_incarnation(turn, server);
  turn.create(Kind::kPod, worker_name(turn.name(), int(server), incarnation),
              worker_pod(turn.job(), turn.settings, int(server), turn.gang().servers[server], incarnation));
}

void make_pods(Turn& turn) {
  const GangView& gang = turn.gang();
  for (std::size_t server = 0; server < gang.workers.size(); ++server)
    if (!gang.workers[server]) make_worker(turn, server);
  if (!gang.launcher)
    turn.create(Kind::kPod, launcher_name(turn.name(), turn.attempt()),
                launcher_pod(turn.job(), turn.settings, turn.attempt()));
}

}  // namespace

bool lacks_pods(Turn& turn) {
  turn.status.attempt = turn.attempt();
  const GangView& gang = turn.gang();
  if (!gang.is_complete() && turn.holds(kPlaced))
    turn.say(kPlaced, false, "Replacing", "a pod of the gang is missing");
  if (turn.spec().launcher == Launcher::kMpiJob)
    have_pods_made(turn);
  else
    make_pods(turn);
  const bool is_whole = gang.is_complete() && gang.launcher;
  if (is_whole && turn.seen.refusals.empty())
    turn.say(kCreated, true, "Made", "all objects of the job are there");
  return !is_whole || gang.launcher->is_terminating();
}

}  // namespace atl::ctl
