// The prepare step. One pod for each manifest mounts the data set's volume, and checks and partitions the
// data set. Its findings are kept in the status, long ones in a ConfigMap, so that it needn't run again.
#include <fmt/format.h>

#include <algorithm>

#include "operator/api/messages.h"
#include "operator/controller/decide.h"
#include "operator/controller/places.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

constexpr Seconds kTimeForALog{600};  // how long the log of an ended pod is asked for
constexpr Seconds kTimeToEnd{30};     // beyond the grace of a pod that was told to end

/// Records the failure once. A pod that has ended is kept for its log until the next prepare pod needs its
/// name. If the job itself has failed, runPolicy.cleanPodPolicy decides how long the pod is kept.
void fail_prepare(Reconcile& reconcile, const PodView& pod, const std::string& reason,
                  const std::string& message) {
  restart(reconcile, {reason, {{}, "", pod.meta.name, pod.node, pod.meta.uid}, message});
  if (!pod.has_ended()) dismiss(reconcile, pod);
}

/// Asks for the log of a pod that has ended. The status that is set here stands only if the API server
/// doesn't give the log, perhaps because it can't reach the node's kubelet.
void ask_for_log(Reconcile& reconcile, const PodView& pod) {
  reconcile.ask_for_prepare_log();
  const ContainerView* engine = pod.container(kEngine);
  const Moment made = made_at(pod.meta).value_or(reconcile.now());
  const Moment ended = std::max(made, engine ? engine->since.value_or(made) : made);
  const std::string what = fmt::format(
      "the prepare pod has ended, and the API server does not give its log (can it reach the kubelet "
      "of node {}?)",
      pod.node);
  if (!reconcile.await(ended + kTimeForALog)) return reconcile.say(kPlaced, false, kPreparing, what);
  const std::string why = pod.phase == "Succeeded" ? "" : why_it_ended(pod, "");
  fail_prepare(reconcile, pod, "PrepareFailed", why + (why.empty() ? "" : "; ") + what);
}

void keep_long_findings(Reconcile& reconcile, const PodView& pod) {
  if (!reconcile.seen.prepare_log) return ask_for_log(reconcile, pod);
  const std::string line = last_line(*reconcile.seen.prepare_log);
  if (!read_prepared(line))
    return fail_prepare(reconcile, pod, "PrepareFailed", "the last line of its log isn't a result: " + line);
  reconcile.create(Kind::kConfigMap, prepared_map_name(reconcile.name(), reconcile.job().made_of.prepared),
                   prepared_config_map(reconcile.job(), line));
}

/// Whether the job's queue has yet to replace every node on which the pod could run.
bool has_no_node_left(const Reconcile& reconcile) {
  const AssignedNodes* assigned = only_nodes(reconcile.job().admitted.worker_nodes);
  return assigned && assigned->slots.empty();
}

/// Says what the prepare pod does, or what it waits for. While there is no pod, or the scheduler hasn't
/// judged it yet, the words about the previous pod still hold.
void tell_how_far(Reconcile& reconcile, const PodView* pod) {
  if (reconcile.holds(kPlaced)) return;
  if (pod && pod->is_bound() && pod->is_terminating() && reconcile.await(*pod->meta.deletion + kTimeToEnd))
    return reconcile.say(
        kPlaced, false, kPreparing,
        fmt::format(
            "the former prepare pod was stopped, and still stands on node {}; the next one waits for "
            "it (a process that waits for a disk or a network volume can't be killed, and a finalizer "
            "holds a pod)",
            pod->node));
  const Condition* before = reconcile.condition(kPlaced);
  const ContainerView* engine = pod ? pod->container(kEngine) : nullptr;
  const bool is_starting = pod && pod->is_bound() && !pod->has_ended() && !(engine && engine->running);
  const Moment late = pod ? made_at(pod->meta).value_or(reconcile.now()) + kTimeToStart : reconcile.now();
  if (pod && !pod->is_bound() && !pod->unschedulable.empty())
    return reconcile.say(kPlaced, false, kUnschedulable,
                         "the prepare pod has no node: " + pod->unschedulable);
  if (!pod && has_no_node_left(reconcile))
    return reconcile.say(kPlaced, false, kPreparing,
                         "the prepare pod has no node: " + what_is_replaced(reconcile));
  if ((!pod || !pod->is_bound()) && before && before->reason == kUnschedulable) return;
  if (is_starting && reconcile.await(late))
    return reconcile.say(kPlaced, false, kPreparing,
                         in_kept_words(before, "waiting for " + why_not_started(*pod)));
  reconcile.say(kPlaced, false, kPreparing, "the data set is checked and partitioned");
}

/// Ends a prepare pod that runs past its deadline. The pod reports no progress, so the deadline is for its
/// whole run. Its log is asked for first, because it is lost with the pod; if the API server doesn't give it,
/// the pod is ended all the same.
void watch_work(Reconcile& reconcile, const PodView& pod, Moment begin) {
  const auto seconds = reconcile.spec().run_policy.prepare_deadline_seconds;
  if (!reconcile.await(begin + stated_time(seconds))) return;
  if (!reconcile.seen.prepare_log) reconcile.ask_for_prepare_log();
  const std::string line = last_line(reconcile.seen.prepare_log.value_or(""));
  fail_prepare(reconcile, pod, "PrepareDeadlineExceeded",
               fmt::format("the prepare pod ran for {} s (runPolicy.prepareDeadlineSeconds){}{}", seconds,
                           line.empty() ? "; it wrote nothing to its log: see whether its volumes answer"
                                        : "; its log ends with: ",
                           line));
}

void watch_over(Reconcile& reconcile, const PodView& pod) {
  const ContainerView* engine = pod.container(kEngine);
  const Moment made = made_at(pod.meta).value_or(reconcile.now());
  if (engine && engine->running)
    return watch_work(reconcile, pod, std::max(made, engine->since.value_or(made)));
  const auto seconds = reconcile.spec().run_policy.start_deadline_seconds;
  if (!reconcile.await(made + stated_time(seconds))) return;
  // A lack of room is no failure of the job. Another pod is made, and waits with a deadline of its own.
  if (!pod.is_bound()) return dismiss(reconcile, pod);
  fail_prepare(reconcile, pod, "StartDeadlineExceeded",
               fmt::format("the prepare pod did not start within {} s: {}", seconds, why_not_started(pod)));
}

/// Why the pod is lost, or "". Draining a node marks its pods. A marked pod counts as evicted at once,
/// because it may be gone before we see it end.
std::string why_lost(const Reconcile& reconcile, const PodView& pod) {
  if (pod.phase == "Succeeded") return {};
  if (pod.is_terminating() && !pod.disruption.empty()) return "Evicted";
  return loss_of(pod, reconcile.seen, reconcile.settings);
}

}  // namespace

Next prepare_data(Reconcile& reconcile) {
  if (reconcile.gang().is_launched || reconcile.findings()) return Next::kContinue;
  const PodView* pod = reconcile.gang().prepare;
  tell_how_far(reconcile, pod);
  if (!pod) {
    if (!has_no_node_left(reconcile) && back_off(reconcile) == Next::kContinue)
      reconcile.create(Kind::kPod, prepare_name(reconcile.name()),
                       prepare_pod(reconcile.job(), reconcile.settings, reconcile.now()));
    return Next::kDone;
  }
  if (!reconcile.reason_against(kCreated).empty() && reconcile.seen.refusals.empty())
    reconcile.say(kCreated, false, kPreparing, "the gang's pods are made once the data set is prepared");
  const std::string loss = why_lost(reconcile, *pod);
  if (is_counted(reconcile.status, *pod)) {
    if (back_off(reconcile) == Next::kContinue) dismiss(reconcile, *pod);
  } else if (loss == kOverLimit || is_disruption(loss)) {
    fail_prepare(reconcile, *pod, loss, pod->message);
  } else if (pod->is_terminating()) {
    dismiss(reconcile, *pod);
  } else if (pod->phase == "Succeeded") {
    keep_long_findings(reconcile, *pod);
  } else if (!loss.empty()) {
    if (!reconcile.seen.prepare_log)
      ask_for_log(reconcile, *pod);
    else
      fail_prepare(reconcile, *pod, "PrepareFailed", why_it_ended(*pod, *reconcile.seen.prepare_log));
  } else if (!pod->is_bound() &&
             pod->meta.annotation(kAssignedAnnotation) != assigned_list(reconcile.job())) {
    dismiss(reconcile, *pod);  // the queue has replaced the nodes that this pod waits for
  } else {
    watch_over(reconcile, *pod);
  }
  return Next::kDone;
}

}  // namespace atl::ctl
