// The gang's pods: a worker for each server and a launcher. A gang that finds room at once is made where it is to stand;
// otherwise its pods are gated. A pod that was lost has a successor of another name.
#include <algorithm>

#include "operator/controller/mpi_job.h"
#include "operator/controller/places.h"
#include "operator/controller/questions.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/release.h"

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

/// Nobody has looked for places yet. What admission adds to pods isn't known before they are there: a gang that doesn't
/// find the room it was planned for is withdrawn, and gated from then on, so that its pods' real sizes can be seen.
bool is_unborn(const Turn& turn) {
  const GangView& gang = turn.gang();
  const Condition* placed = find_condition(turn.status.conditions, kPlaced);
  return !gang.launcher && std::ranges::count(gang.workers, nullptr) == std::ssize(gang.workers) &&
         (!placed || placed->reason == kPreparing || placed->reason == kUnschedulable);
}

void make_worker(Turn& turn, std::size_t server, const std::string& node) {
  const int incarnation = next_incarnation(turn, server);
  std::string pod =
      worker_pod(turn.job(), turn.settings, int(server), turn.gang().servers[server], incarnation);
  if (!node.empty()) pod = born_released(pod, node, turn.now());
  turn.create(Kind::kPod, worker_name(turn.name(), int(server), incarnation), std::move(pod));
}

void make_launcher(Turn& turn, const std::string& node) {
  std::string pod = launcher_pod(turn.job(), turn.settings, turn.attempt());
  if (!node.empty()) pod = born_pinned(pod, node);
  turn.create(Kind::kPod, launcher_name(turn.name(), turn.attempt()), std::move(pod));
}

void make_pods(Turn& turn) {
  const GangView& gang = turn.gang();
  const GangPlan plan = is_unborn(turn) ? find_places(turn) : GangPlan{};
  for (std::size_t server = 0; server < gang.workers.size(); ++server)
    if (!gang.workers[server]) make_worker(turn, server, plan.fits ? plan.nodes[server] : "");
  if (!gang.launcher) make_launcher(turn, plan.fits ? plan.launcher : "");
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
    turn.say(kCreated, true, "Made", "all objects of the job exist");
  return !is_whole || gang.launcher->is_terminating();
}

}  // namespace atl::ctl
