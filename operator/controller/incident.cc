// What ended an attempt: which rank, pod and node it began with, why, and whether the job is to blame.
#include "operator/controller/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "operator/api/messages.h"
#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

constexpr int kInterrupted = 130;  // exit status of `atoll run` after SIGTERM and a checkpoint

std::string told_by(const PodView& pod) {
  const ContainerView* engine = pod.container(kEngine);
  return engine ? engine->message : "";
}

/// What the incident's message says about a GPU's failure; nothing where ranks use no GPUs.
std::optional<GpuBlame> blame_of(const Incident& incident, const Reconcile& reconcile) {
  const bool may_be = incident.reason == "Exit" || incident.reason == "Signal";
  if (!may_be || reconcile.spec().resources.gpus == 0) return {};
  return gpu_blame(incident.message);
}

/// Blames the node of the rank whose GPU failed. mpirun may have seen another rank end first, as a
/// consequence. If the message names no rank, mpirun's rank is blamed.
void blame_gpu(Incident& incident, const Reconcile& reconcile) {
  const auto blame = blame_of(incident, reconcile);
  const auto rank = blame && blame->rank ? blame->rank : incident.culprit.rank;
  if (!blame || !rank) return;
  const PodView* worker = reconcile.gang().worker_of(Rank(*rank));
  if (!worker) return;
  incident.reason = blame->reason;
  incident.culprit = {*rank, "", worker->meta.name, worker->node};
}

std::string what_happened(const Incident& incident) {
  const Culprit& c = incident.culprit;
  std::string text = c.rank ? fmt::format("rank {}", *c.rank) : "";
  if (!c.pod.empty()) text += fmt::format("{}pod {}", text.empty() ? "" : " in ", c.pod);
  if (!c.node.empty()) text += fmt::format("{}on node {}", text.empty() ? "" : " ", c.node);
  text += fmt::format("{}{}", text.empty() ? "" : ": ", incident.reason);
  if (!c.signal.empty()) text += " (" + c.signal + ")";
  return incident.message.empty() ? text : text + ": " + incident.message;
}

/// Whether another worker serves in place of the pod, so that the pod was lost before this attempt began.
bool is_replaced(const PodView& pod, const Reconcile& reconcile) {
  for (const PodView* worker : reconcile.gang().workers)
    if (worker && worker->meta.label(kServerLabel) == pod.meta.label(kServerLabel)) return true;
  return false;
}

/// The lost worker that the launcher names; if there is none, any lost worker whose end isn't counted yet.
const PodView* lost_worker(const Reconcile& reconcile, const std::string& named) {
  const PodView* any = nullptr;
  for (const PodView* pod : reconcile.gang().replaced) {
    if (loss_of(*pod, reconcile.seen, reconcile.settings).empty() || is_counted(reconcile.status, *pod))
      continue;
    if (is_replaced(*pod, reconcile)) continue;
    if (pod->meta.name == named) return pod;
    any = any ? any : pod;
  }
  return any;
}

/// Replaces the launcher's account of a rank's death by that of the rank's own pod, which knows more.
void refine(Incident& incident, const Reconcile& reconcile) {
  const PodView* worker = lost_worker(reconcile, incident.culprit.pod);
  if (!worker) return;
  Incident nearer = worker_incident(*worker, reconcile);
  if (!nearer.culprit.rank && nearer.culprit.pod == incident.culprit.pod)
    nearer.culprit.rank = incident.culprit.rank;
  if (nearer.culprit.signal.empty() && nearer.culprit.pod == incident.culprit.pod)
    nearer.culprit.signal = incident.culprit.signal;
  if (nearer.message.empty()) nearer.message = incident.message;
  incident = std::move(nearer);
}

Incident launcher_incident(const PodView& launcher, const std::string& loss, const Reconcile& reconcile) {
  Incident incident{loss, {{}, "", launcher.meta.name, launcher.node}, launcher.message};
  if (is_disruption(loss)) return incident;
  const ContainerView* engine = launcher.container(kEngine);
  const auto result = read_launch_result(told_by(launcher));
  if (result && !result->message.empty()) incident.message = result->message;
  if ((result && result->status == kInterrupted) || (engine && engine->exit_code == kInterrupted)) {
    incident.reason = "Interrupted";
    return incident;
  }
  if (engine) incident.culprit.signal = signal_name(engine->signal);
  if (result && result->rank_end) {
    incident.reason = result->rank_end->reason;
    incident.culprit = result->rank_end->culprit;
  } else if (!result) {
    incident.message = told_by(launcher);
  }
  refine(incident, reconcile);
  blame_gpu(incident, reconcile);
  return incident;
}

/// The incident of a pod that vanished from the API.
Incident vanished(const Reconcile& reconcile, std::size_t server) {
  Incident incident{"Deleted", {}, "the pod is gone"};
  incident.culprit.rank = reconcile.gang().servers[server].front();
  if (server < reconcile.status.servers.size()) incident.culprit.node = reconcile.status.servers[server].node;
  return incident;
}

}  // namespace

bool is_disruption(const std::string& reason) {
  static const std::set<std::string> kDisruptions = {"NodeLost",  kLost,     "Disconnected", "Evicted",
                                                     "Preempted", "Deleted", "Interrupted",  kNotBound,
                                                     "Rejected",  kGpuFault};
  return kDisruptions.contains(reason);
}

bool is_counted(const Status& status, const PodView& pod) {
  return std::ranges::any_of(status.restarts, [&](const Restart& restart) {
    return restart.culprit.pod == pod.meta.name &&
           (restart.culprit.uid.empty() || restart.culprit.uid == pod.meta.uid);
  });
}

Incident worker_incident(const PodView& pod, const Reconcile& reconcile) {
  Incident incident{
      loss_of(pod, reconcile.seen, reconcile.settings), {{}, "", pod.meta.name, pod.node}, pod.message};
  const auto end = read_rank_end(told_by(pod));
  if (end) {
    incident.culprit.rank = end->culprit.rank;
    incident.culprit.signal = end->culprit.signal;
  }
  const std::string told = end ? end->message : told_by(pod);
  // An evicted pod knows only that it was asked to stop. The kubelet's message says why.
  const bool is_evicted = pod.reason == "Evicted" && !pod.message.empty();
  if (!told.empty() && !is_evicted) incident.message = told;
  if (const auto blame = blame_of(incident, reconcile)) incident.reason = blame->reason;
  return incident;
}

std::optional<Incident> incident_of(const Reconcile& reconcile) {
  const GangView& gang = reconcile.gang();
  if (!gang.launcher)
    return Incident{"Deleted",
                    {{}, "", launcher_name(reconcile.name(), reconcile.attempt()), ""},
                    "the launcher is gone"};
  if (const auto loss = loss_of(*gang.launcher, reconcile.seen, reconcile.settings); !loss.empty())
    return launcher_incident(*gang.launcher, loss, reconcile);
  for (std::size_t s = 0; s < gang.workers.size(); ++s) {
    if (gang.workers[s]) continue;
    const PodView* worker = lost_worker(reconcile, "");
    return worker ? worker_incident(*worker, reconcile) : vanished(reconcile, s);
  }
  return {};
}

void restart(Reconcile& reconcile, const Incident& incident) {
  const std::string what = what_happened(incident);
  take_progress(reconcile);  // the status may be behind
  reconcile.status.add_restart(
      {reconcile.now(), incident.culprit, incident.reason, reconcile.status.progress.last_checkpoint_epoch});
  reconcile.say(kRunning, false, incident.reason, what);
  const RunPolicySpec& policy = reconcile.spec().run_policy;
  if (!is_disruption(incident.reason)) {
    if (++reconcile.status.failures > policy.backoff_limit)
      return fail_job(reconcile, "BackoffLimitExceeded",
                      fmt::format("{}; this was failure {}, and runPolicy.backoffLimit allows {}", what,
                                  reconcile.status.failures, policy.backoff_limit));
  } else if (++reconcile.status.disruptions > policy.max_disruptions && policy.max_disruptions > 0) {
    return fail_job(reconcile, "TooManyDisruptions",
                    fmt::format("{}; this was disruption {}, and runPolicy.maxDisruptions allows {}", what,
                                reconcile.status.disruptions, policy.max_disruptions));
  }
  reconcile.say(kRestarting, true, incident.reason, what);
  reconcile.end_attempt();
}

}  // namespace atl::ctl
