// From ready pods to ranks that train: the launcher learns where the pods are, is released, and is watched.
#include <fmt/format.h>

#include <algorithm>

#include "operator/controller/places.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

constexpr Seconds kTimeToAnswer{60};

std::vector<AttemptServer> servers_of(const Reconcile& reconcile) {
  std::vector<AttemptServer> servers;
  for (std::size_t s = 0; s < reconcile.gang().workers.size(); ++s) {
    const PodView& pod = *reconcile.gang().workers[s];
    servers.push_back({pod.meta.name, pod.node, pod.ip, reconcile.gang().servers[s]});
  }
  return servers;
}

/// Whether a launcher of an earlier attempt may still run.
bool is_another_alive(const Reconcile& reconcile) {
  return std::ranges::any_of(reconcile.gang().earlier_launchers, [&](const PodView* pod) {
    return loss_of(*pod, reconcile.seen, reconcile.settings).empty();
  });
}

/// A worker's node whose kubelet is silent, or "". What that kubelet last said of its pods may be long out of
/// date. Within a limited time, it answers again or the node is given up.
std::string silent_node(const Reconcile& reconcile) {
  for (const PodView* worker : reconcile.gang().workers) {
    const auto node = reconcile.seen.nodes.find(worker->node);
    if (node == reconcile.seen.nodes.end() || !node->second.ready) return worker->node;
  }
  return {};
}

void launch(Reconcile& reconcile, const PodView& launcher) {
  // Its node may have died, or been cordoned or tainted, since the launcher was pinned to it.
  const std::string refusal = launcher.pinned.empty() ? "" : why_no_launcher_on(reconcile, launcher.pinned);
  if (!refusal.empty()) {
    reconcile.say(kRunning, false, kStarting,
                  fmt::format("the launcher's node {} {}; it gets another", launcher.pinned, refusal));
    return dismiss(reconcile, launcher);  // a pin can't be changed, so the pod is made again
  }
  const std::string node = launcher.pinned.empty() ? place_for_launcher(reconcile) : launcher.pinned;
  if (node.empty()) {
    reconcile.say(kRunning, false, kNoRoom, "all workers are ready, but " + why_no_launcher(reconcile));
    reconcile.requeue_at(reconcile.now() + Seconds(30));
    return;
  }
  if (!reconcile.gang().is_launched)
    reconcile.create(Kind::kConfigMap, attempt_map_name(reconcile.name(), reconcile.attempt()),
                     attempt_config_map(reconcile.job(), reconcile.attempt(), servers_of(reconcile),
                                        prepared_for_ranks(reconcile)));
  reconcile.next_stage();
  reconcile.patch(launcher, pin_and_release_patch(launcher, node, reconcile.now()));
}

/// Pins the launcher to a node while the workers start, if it isn't pinned yet. The write that pins it may
/// have failed, or the operator may have died before it. An unpinned launcher's room could be taken by any
/// pod, and then the ready workers would wait for a launcher in vain.
void hold_place_for(Reconcile& reconcile, const PodView& launcher) {
  const Admitted& admitted = reconcile.job().admitted;
  if (!launcher.pinned.empty() || admitted.launcher != admitted.workers) return;
  const std::string node = place_for_launcher(reconcile);
  if (!node.empty()) reconcile.patch(launcher, pin_patch(launcher, node));
}

/// A worker that isn't ready; null if all are. If the condition already names one that still isn't ready,
/// that one is returned, so that the condition's words stay.
const PodView* slow_worker(const Reconcile& reconcile) {
  const Condition* running = reconcile.condition(kRunning);
  const PodView* slow = nullptr;
  for (const PodView* worker : reconcile.gang().workers) {
    if (worker->ready && !worker->ip.empty()) continue;
    if (running && running->message.starts_with("waiting for " + worker->meta.name)) return worker;
    if (!slow) slow = worker;
  }
  return slow;
}

/// Names the slow pod, but only after a while, because each change of words is a write.
void wait_for(Reconcile& reconcile, const PodView& slow) {
  const Moment end = released_at(slow).value_or(reconcile.now()) + kTimeToStart;
  const bool is_late = reconcile.await(end);
  const Condition* before = reconcile.condition(kRunning);
  reconcile.say(kRunning, false, kStarting,
                is_late ? in_kept_words(before, "waiting for " + why_not_started(slow)) : "the pods start");
}

void wait_for(Reconcile& reconcile, const std::string& node) {
  reconcile.say(kRunning, false, kStarting,
                fmt::format("node {} does not answer; its pods are replaced unless it does soon", node));
  if (const auto found = reconcile.seen.nodes.find(node); found != reconcile.seen.nodes.end())
    reconcile.requeue_at(found->second.since + Seconds(reconcile.settings.toleration_seconds));
}

/// Whether the servers have been silent for too long. An operator that has just started hasn't asked them for
/// long enough, so it keeps the answer of its predecessor.
bool listen_in_vain(Reconcile& reconcile) {
  const Condition* before = reconcile.condition(kRunning);
  const bool was_unheard = before && before->holds && before->reason == kUnheard;
  const auto& heard = reconcile.seen.heard;
  if (!heard) return was_unheard;
  const Moment end = std::max(heard->answered, reconcile.since(kRunning)) + kTimeToAnswer;
  const bool are_silent = reconcile.await(end);
  if (are_silent && heard->missed >= kMissedToBeUnheard) return true;  // the last miss triggers a look
  return was_unheard && !heard->progress;
}

void say_running(Reconcile& reconcile) {
  const std::string what = fmt::format("{} ranks on {} servers, attempt {}", reconcile.spec().placement.ranks,
                                       reconcile.gang().servers.size(), reconcile.attempt());
  if (!listen_in_vain(reconcile)) return reconcile.say(kRunning, true, "Training", what);
  reconcile.say(
      kRunning, true, kUnheard,
      fmt::format(
          "{}; no server of them has answered the operator for {} s: whether they advance is not known, and the "
          "job is left as it is. See what is between the operator and their metrics port: a network policy, "
          "a mesh, the nodes' network",
          what, kTimeToAnswer.count()));
}

/// Only an answer that shows no progress proves a stall, because silence may be the network's fault. Each
/// answer triggers a look at the job, so no look has to be scheduled.
bool restart_stalled(Reconcile& reconcile) {
  const auto& heard = reconcile.seen.heard;
  if (!heard || !heard->progress) return false;
  const auto seconds = reconcile.spec().run_policy.progress_deadline_seconds;
  if (heard->answered < std::max(heard->advanced, reconcile.since(kRunning)) + stated_time(seconds))
    return false;
  Incident incident{
      "Stalled",
      {},
      fmt::format("no epoch or step ended for {} s (runPolicy.progressDeadlineSeconds)", seconds)};
  incident.culprit.rank = heard->stalled_rank;
  const auto& rank = incident.culprit.rank;
  if (const PodView* worker = rank ? reconcile.gang().worker_of(Rank(*rank)) : nullptr) {
    incident.culprit.pod = worker->meta.name;
    incident.culprit.node = worker->node;
  }
  restart(reconcile, incident);
  return true;
}

}  // namespace

void take_progress(Reconcile& reconcile) {
  const auto& heard = reconcile.seen.heard;
  if (!heard || !heard->progress) return;
  reconcile.status.progress = *heard->progress;
  reconcile.status.progress.advanced = heard->advanced;
}

Next launch_ranks(Reconcile& reconcile) {
  const PodView& launcher = *reconcile.gang().launcher;
  if (!is_gated(launcher)) return Next::kContinue;
  const std::string silent = silent_node(reconcile);
  const PodView* slow = slow_worker(reconcile);
  if (slow) hold_place_for(reconcile, launcher);
  if (slow)
    wait_for(reconcile, *slow);
  else if (!silent.empty())
    wait_for(reconcile, silent);
  else if (!is_another_alive(reconcile))
    launch(reconcile, launcher);
  return Next::kDone;
}

Next watch_ranks(Reconcile& reconcile) {
  const ContainerView* engine = reconcile.gang().launcher->container(kEngine);
  if (engine && engine->ended) return Next::kDone;  // the pod's phase follows, and says how it ended
  if (!engine || !engine->running) {
    wait_for(reconcile, *reconcile.gang().launcher);
    return Next::kDone;
  }
  say_running(reconcile);
  if (reconcile.holds(kRestarting)) reconcile.say(kRestarting, false, "Training", "the ranks run again");
  if (!reconcile.status.start) reconcile.status.start = reconcile.now();
  reconcile.status.withdrawals = 0;
  if (!restart_stalled(reconcile)) take_progress(reconcile);
  return Next::kDone;
}

}  // namespace atl::ctl
