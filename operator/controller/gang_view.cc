#include "operator/controller/gang_view.h"

#include <fmt/format.h>
#include <algorithm>

#include "job/strategies.h"
#include "operator/api/messages.h"
#include "operator/controller/places.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

int number_of(const std::string& text) {
  return text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos
             ? -1
             : std::stoi(text);
}

/// Whether `a` is preferred to `b` as the worker of one server. Released pods come before gated ones, and
/// then older incarnations before newer.
bool comes_first(const PodView& a, const PodView& b) {
  if (is_gated(a) != is_gated(b)) return is_gated(b);
  return number_of(a.meta.label(kIncarnationLabel)) < number_of(b.meta.label(kIncarnationLabel));
}

void place_worker(const PodView& pod, bool serves, GangView& view) {
  const int server = number_of(pod.meta.label(kServerLabel));
  if (!serves || server < 0 || server >= int(view.workers.size())) {
    view.replaced.push_back(&pod);
    return;
  }
  const PodView*& place = view.workers[std::size_t(server)];
  const PodView* second = &pod;
  if (!place || comes_first(pod, *place)) std::swap(place, second);
  if (second) view.replaced.push_back(second);
}

/// Whether the node is lost for certain: its kubelet is silent, and the launcher has lost it too. With two
/// witnesses there is no need to wait.
bool is_known_lost(const std::string& node, Moment silent_since, const Status& status) {
  return std::ranges::any_of(status.restarts, [&](const Restart& restart) {
    return restart.reason == "NodeLost" && restart.culprit.node == node && restart.time >= silent_since;
  });
}

/// Whether the ranks are witnesses that a node is lost: other ranks wait for a rank on it, and its server
/// doesn't answer the operator. They are the only witnesses if the launcher was on that node, or if the
/// network hides the loss from mpirun.
bool is_waited_for_in_vain(const std::string& node, const Observed& seen) {
  if (!seen.silent_rank) return false;
  return std::ranges::any_of(seen.job.status.servers, [&](const ServerPlace& server) {
    return server.node == node && std::ranges::count(server.ranks, *seen.silent_rank) > 0;
  });
}

/// Whether this pod's GPUs ended an attempt. The pod runs on, so the next attempt would use them again.
bool has_bad_gpu(const PodView& pod, const Status& status) {
  return std::ranges::any_of(status.restarts, [&](const Restart& restart) {
    return is_of_gpu(restart.reason) && restart.culprit.pod == pod.meta.name;
  });
}

bool has_attempt_map(const Observed& seen, int attempt) {
  const std::string map = attempt_map_name(seen.job.meta.name, attempt);
  return std::ranges::any_of(seen.objects, [&](const ObjectView& object) {
    return object.kind == Kind::kConfigMap && object.meta.name == map && is_own(object.meta, seen);
  });
}

/// Whether the node has been missing for kTimeToComeBack, its kubelet has been silent for longer than
/// tolerated, or the job's launcher or ranks have lost it, too.
bool is_node_lost(const std::string& node, const Observed& seen, const Settings& settings) {
  if (node.empty()) return false;
  const auto found = seen.nodes.find(node);
  if (found == seen.nodes.end()) return true;
  const NodeView& view = found->second;
  if (view.ready) return false;
  const Seconds patience = view.is_missing ? kTimeToComeBack : Seconds(settings.toleration_seconds);
  return seen.now - view.since >= patience || is_known_lost(node, view.since, seen.job.status) ||
         is_waited_for_in_vain(node, seen);
}

}  // namespace

bool GangView::is_complete() const {
  return std::ranges::none_of(workers, [](const PodView* worker) { return worker == nullptr; });
}

std::vector<const PodView*> GangView::pods() const {
  std::vector<const PodView*> pods = workers;
  pods.push_back(launcher);
  std::erase(pods, nullptr);
  return pods;
}

const PodView* GangView::worker_of(Rank rank) const {
  for (std::size_t s = 0; s < servers.size(); ++s)
    if (std::ranges::count(servers[s], rank) > 0) return workers[s];
  return nullptr;
}

bool is_own(const Meta& meta, const Observed& seen) {
  return meta.owner_uid == seen.job.meta.uid;
}

std::string loss_of(const PodView& pod, const Observed& seen, const Settings& settings) {
  if (is_node_lost(pod.node, seen, settings) && !pod.has_ended()) return "NodeLost";
  // Kubernetes marks a pod that is evicted because its node lacks room, but not one that outgrew its own
  // limit.
  if (pod.reason == "Evicted") return pod.disruption.empty() ? kOverLimit : "Evicted";
  if (pod.disruption == "PreemptionByScheduler") return pod.has_ended() ? "Preempted" : "";
  if (!pod.disruption.empty() && pod.has_ended()) return "Evicted";
  if (pod.has_ended()) return reason_of_end(pod);
  return pod.is_terminating() && seen.now >= *pod.meta.deletion ? "Deleted" : "";
}

bool is_leaving(const PodView& pod, const Observed& seen, const Settings& settings) {
  return pod.is_terminating() && loss_of(pod, seen, settings).empty();
}

GangView view_gang(const Observed& seen, const Settings& settings, int attempt) {
  GangView view;
  view.servers = seen.job.job->strategy.row->layout(*seen.job.job).groups;
  view.workers.assign(view.servers.size(), nullptr);
  for (const PodView& pod : seen.pods) {
    if (!is_own(pod.meta, seen)) continue;
    const std::string role = pod.meta.label(kRoleLabel);
    if (role == kPrepareRole) view.prepare = &pod;
    const int of = number_of(pod.meta.label(kAttemptLabel));
    if (role == kWorkerRole) {
      const bool is_past = of >= 0 && of != attempt;
      const bool is_fit = loss_of(pod, seen, settings).empty() && !has_bad_gpu(pod, seen.job.status);
      place_worker(pod, is_fit && !pod.is_terminating() && !is_past, view);
    }
    if (role != kLauncherRole) continue;
    if (of == attempt)
      view.launcher = &pod;
    else
      view.earlier_launchers.push_back(&pod);
  }
  // The launcher may have read the map even if somebody has deleted it since.
  const bool is_released = view.launcher && !is_gated(*view.launcher);
  view.is_launched = is_released || has_attempt_map(seen, attempt);
  if (!view.is_launched) set_misplaced_aside(seen, view);
  return view;
}

// The gang's pods: a worker for each server, and a launcher. If the gang finds room at once, its pods are
// made on their nodes; otherwise they are made gated. A pod that replaces a lost one has another name.

namespace {

/// Whether no places have been looked for yet. The sizes of pods are then only planned ones: admission may
/// add to pods, which shows once they exist. So a gang that doesn't find the planned room is withdrawn, and
/// its pods are gated from then on, so that their real sizes are visible.
bool is_unborn(const Reconcile& reconcile) {
  const GangView& gang = reconcile.gang();
  const Condition* placed = reconcile.condition(kPlaced);
  return !gang.launcher && std::ranges::count(gang.workers, nullptr) == std::ssize(gang.workers) &&
         (!placed || placed->reason == kPreparing || placed->reason == kUnschedulable);
}

void make_worker(Reconcile& reconcile, std::size_t server, const std::string& node) {
  const int incarnation = next_incarnation(reconcile, server);
  std::string pod = worker_pod(reconcile.job(), reconcile.settings, int(server),
                               reconcile.gang().servers[server], incarnation);
  if (!node.empty()) pod = born_released(pod, node, reconcile.now());
  reconcile.create(Kind::kPod, worker_name(reconcile.name(), int(server), incarnation), std::move(pod));
}

void make_launcher(Reconcile& reconcile, const std::string& node) {
  std::string pod = launcher_pod(reconcile.job(), reconcile.settings, reconcile.attempt());
  if (!node.empty()) pod = born_pinned(pod, node);
  reconcile.create(Kind::kPod, launcher_name(reconcile.name(), reconcile.attempt()), std::move(pod));
}

void make_pods(Reconcile& reconcile) {
  const GangView& gang = reconcile.gang();
  const GangPlan plan = is_unborn(reconcile) ? find_places(reconcile) : GangPlan{};
  for (std::size_t server = 0; server < gang.workers.size(); ++server)
    if (!gang.workers[server]) make_worker(reconcile, server, plan.fits ? plan.nodes[server] : "");
  if (!gang.launcher) make_launcher(reconcile, plan.fits ? plan.launcher : "");
}

// A gang whose pods mpi-operator makes (launcher: mpijob). Each attempt has its own MPIJob, and all its pods
// are deleted with it, because mpi-operator neither replaces a failed worker nor retries a launcher.

constexpr Seconds kTimeToMakePods{30};

/// Whether the previous attempt's pods still hold their successors' room. Those on lost nodes don't count.
bool is_room_held(const Reconcile& reconcile) {
  return std::ranges::any_of(reconcile.gang().replaced, [&](const PodView* pod) {
    return pod->is_bound() && !pod->has_ended() &&
           !is_node_lost(pod->node, reconcile.seen, reconcile.settings);
  });
}

void watch_over(Reconcile& reconcile, const ObjectView& mpi_job) {
  const GangView& gang = reconcile.gang();
  if (!mpi_job.failure.empty() && !gang.launcher)  // no launcher will come
    return restart(reconcile, {"Deleted", {}, mpi_job.meta.name + " has failed: " + mpi_job.failure});
  if (!reconcile.await(made_at(mpi_job.meta).value_or(reconcile.now()) + kTimeToMakePods)) return;
  const auto workers = std::ranges::count_if(gang.workers, [](const PodView* worker) { return worker; });
  reconcile.say(
      kCreated, false, "NoMpiOperator",
      fmt::format("MPIJob {} has {} of {} workers and {} launcher; mpi-operator makes them: check that it "
                  "runs, and what kubectl describe says of the MPIJob",
                  mpi_job.meta.name, workers, gang.workers.size(), gang.launcher ? "a" : "no"));
}

/// Makes the present attempt's MPIJob. If mpi-operator makes no pods for it, a condition says so.
void have_pods_made(Reconcile& reconcile) {
  const GangView& gang = reconcile.gang();
  const std::string name = mpi_job_name(reconcile.name(), reconcile.attempt());
  const ObjectView* made = reconcile.find(Kind::kMpiJob, name);
  if (made && !gang.is_whole())
    watch_over(reconcile, *made);
  else if (!made && !is_room_held(reconcile))
    reconcile.create(
        Kind::kMpiJob, name,
        mpi_job(reconcile.job(), reconcile.settings, reconcile.attempt(), gang.servers, reconcile.now()));
}

}  // namespace

Next make_gang(Reconcile& reconcile) {
  reconcile.status.attempt = reconcile.attempt();
  const GangView& gang = reconcile.gang();
  if (!gang.is_complete() && reconcile.holds(kPlaced))
    reconcile.say(kPlaced, false, "Replacing", "a pod of the gang is missing");
  if (reconcile.spec().launcher == Launcher::kMpiJob)
    have_pods_made(reconcile);
  else
    make_pods(reconcile);
  if (gang.is_whole() && reconcile.seen.refusals.empty())
    reconcile.say(kCreated, true, "Made", "all objects of the job exist");
  return done_if(!gang.is_whole() || gang.launcher->is_terminating());
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
