// From pods that are ready to ranks that train: the launcher is told where they are and released, and watched over.
#include <fmt/format.h>

#include <algorithm>

#include "operator/controller/incident.h"
#include "operator/controller/places.h"
#include "operator/controller/questions.h"
#include "operator/controller/withdraw.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

constexpr Seconds kTimeToAnswer{60};

std::vector<AttemptServer> servers_of(const Turn& turn) {
  std::vector<AttemptServer> servers;
  for (std::size_t s = 0; s < turn.gang().workers.size(); ++s) {
    const PodView& pod = *turn.gang().workers[s];
    servers.push_back({pod.meta.name, pod.node, pod.ip, turn.gang().servers[s]});
  }
  return servers;
}

/// A launcher of an attempt before this one that may still run.
bool is_another_alive(const Turn& turn) {
  return std::ranges::any_of(turn.gang().earlier_launchers, [&](const PodView* pod) {
    return loss_of(*pod, turn.seen, turn.settings).empty();
  });
}

/// Its kubelet is silent, and what it said last of its pods may be long untrue; soon it answers or is given up.
std::string silent_node(const Turn& turn) {
  for (const PodView* worker : turn.gang().workers) {
    const auto node = turn.seen.nodes.find(worker->node);
    if (node == turn.seen.nodes.end() || !node->second.ready) return worker->node;
  }
  return {};
}

void launch(Turn& turn, const PodView& launcher) {
  // Its node may have died, been cordoned or tainted since it was pinned to it.
  const std::string refusal = launcher.pinned.empty() ? "" : why_no_launcher_on(turn, launcher.pinned);
  if (!refusal.empty()) {
    turn.say(kRunning, false, kStarting,
             fmt::format("the launcher's node {} {}; it gets another", launcher.pinned, refusal));
    return dismiss(turn, launcher);  // a pin can't be changed, so it is made anew
  }
  const std::string node = launcher.pinned.empty() ? place_for_launcher(turn) : launcher.pinned;
  if (node.empty()) {
    turn.say(kRunning, false, "NoRoom", "all workers are ready, but no node has room for the launcher");
    turn.look_at(turn.now() + Seconds(30));
    return;
  }
  if (!turn.gang().is_launched)
    turn.create(Kind::kConfigMap, attempt_map_name(turn.name(), turn.attempt()),
                attempt_config_map(turn.job(), turn.attempt(), servers_of(turn), parts_by_rank(turn),
                                   chosen_strategy(turn)));
  turn.next_stage();
  turn.patch(launcher, pin_and_release_patch(launcher, node, turn.now()));
}

/// Null where all are ready. Of several that of which was said before that others wait for it.
const PodView* slow_worker(const Turn& turn) {
  const Condition* running = find_condition(turn.status.conditions, kRunning);
  const PodView* slow = nullptr;
  for (const PodView* worker : turn.gang().workers) {
    if (worker->ready && !worker->ip.empty()) continue;
    if (running && running->message.starts_with("waiting for " + worker->meta.name)) return worker;
    if (!slow) slow = worker;
  }
  return slow;
}

/// Whoever is slow is named, and only after a while: each change of words is a write.
void wait_for(Turn& turn, const PodView& slow) {
  const Moment end = released_at(slow).value_or(turn.now()) + kTimeToStart;
  const bool is_late = turn.now() >= end;
  if (!is_late) turn.look_at(end);
  const Condition* before = find_condition(turn.status.conditions, kRunning);
  turn.say(kRunning, false, kStarting,
           is_late ? in_kept_words(before, "waiting for " + why_not_started(slow)) : "the pods start");
}

void wait_for(Turn& turn, const std::string& node) {
  turn.say(kRunning, false, kStarting,
           fmt::format("node {} does not answer; its pods are replaced unless it does soon", node));
  if (const auto found = turn.seen.nodes.find(node); found != turn.seen.nodes.end())
    turn.look_at(found->second.since + Seconds(turn.settings.toleration_seconds));
}

/// Progress that has been heard of; what a moment of silence doesn't say is kept.
void take_progress(Turn& turn) {
  const auto& heard = turn.seen.heard;
  if (!heard || !heard->progress) return;
  turn.status.progress = *heard->progress;
  turn.status.progress.advanced = heard->advanced;
}

/// Of servers that haven't been asked for long, by an operator that has just started, what it was before is believed.
bool is_unheard(Turn& turn) {
  const Condition* before = find_condition(turn.status.conditions, kRunning);
  const bool was_unheard = before && before->holds && before->reason == kUnheard;
  const auto& heard = turn.seen.heard;
  if (!heard) return was_unheard;
  const Moment end = std::max(heard->answered, turn.since(kRunning)) + kTimeToAnswer;
  if (turn.now() >= end) return true;
  turn.look_at(end);
  return was_unheard && !heard->progress;
}

void say_running(Turn& turn) {
  const std::string what = fmt::format("{} ranks on {} servers, attempt {}", turn.spec().placement.ranks,
                                       turn.gang().servers.size(), turn.attempt());
  if (!is_unheard(turn)) return turn.say(kRunning, true, "Training", what);
  turn.say(
      kRunning, true, kUnheard,
      fmt::format(
          "{}; no server of them has answered the operator for {} s: whether they advance is not known, and the "
          "job is left as it is. See what is between the operator and their metrics port: a network policy, "
          "a mesh, the nodes' network",
          what, kTimeToAnswer.count()));
}

/// Only an answer that shows no progress proves it. Silence may be our ears'. The answer is news, so nobody need look before.
bool has_stalled(Turn& turn) {
  const auto& heard = turn.seen.heard;
  if (!heard || !heard->progress) return false;
  const auto seconds = turn.spec().run_policy.progress_deadline_seconds;
  if (heard->answered < std::max(heard->advanced, turn.since(kRunning)) + Seconds(seconds)) return false;
  Incident incident{
      "Stalled",
      {},
      fmt::format("no epoch or step ended for {} s (runPolicy.progressDeadlineSeconds)", seconds)};
  incident.culprit.rank = heard->stalled_rank;
  for (std::size_t s = 0; incident.culprit.rank && s < turn.gang().servers.size(); ++s) {
    if (std::ranges::count(turn.gang().servers[s], Rank(*incident.culprit.rank)) == 0) continue;
    incident.culprit.pod = turn.gang().workers[s]->meta.name;
    incident.culprit.node = turn.gang().workers[s]->node;
  }
  restart(turn, incident);
  return true;
}

}  // namespace

bool is_unlaunched(Turn& turn) {
  const PodView& launcher = *turn.gang().launcher;
  if (!is_gated(launcher)) return false;
  const std::string silent = silent_node(turn);
  if (const PodView* slow = slow_worker(turn))
    wait_for(turn, *slow);
  else if (!silent.empty())
    wait_for(turn, silent);
  else if (!is_another_alive(turn))
    launch(turn, launcher);
  return true;
}

bool is_running(Turn& turn) {
  const ContainerView* engine = turn.gang().launcher->container(kEngine);
  if (engine && engine->ended) return true;  // its pod's phase follows, and says how
  if (!engine || !engine->running) {
    wait_for(turn, *turn.gang().launcher);
    return true;
  }
  say_running(turn);
  if (turn.holds(kRestarting)) turn.say(kRestarting, false, "Training", "the ranks run again");
  if (!turn.status.start) turn.status.start = turn.now();
  turn.status.withdrawals = 0;
  if (!has_stalled(turn)) take_progress(turn);
  return true;
}

}  // namespace atl::ctl
