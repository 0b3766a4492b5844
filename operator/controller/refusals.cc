// Refused pods. Two gangs that each hold half of a quota would wait for each other for ever. So the younger
// one deletes its gated pods, and waits while the older one is refused pods and holds some. From time to time
// the older one deletes its pods too, because it may need more than there will ever be.
#include "operator/controller/decide.h"

#include <fmt/format.h>
#include <algorithm>
#include <tuple>

#include "operator/controller/steps.h"
#include "operator/objects/objects.h"
#include "operator/objects/template.h"

namespace atl::ctl {
namespace {

constexpr Seconds kLookForRoom{10};  // where nothing reports new room
constexpr Seconds kPatience{30};     // before a gang gives way to an older one
constexpr Seconds kLongestTry{120}, kFirstRest{60}, kLongestRest{600};  // times of the oldest gang
constexpr const char* kGaveWay =
    "; the gang's other pods are withdrawn meanwhile, so that other jobs can have the room";

bool is_refused_pods(const Reconcile& reconcile) {
  return reconcile.reason_against(kCreated) == kRefused && !reconcile.gang().is_launched &&
         !reconcile.gang().is_whole() && reconcile.spec().launcher == Launcher::kAtoll;
}

/// When the oldest gang's present rest ends; nothing while it may try. The gang tries for a while, rests,
/// tries again, rests for twice as long, and so on. All this follows from the time since the first refusal,
/// so nothing has to be remembered.
std::optional<Moment> end_of_rest(const Reconcile& reconcile) {
  Moment begin = reconcile.since(kCreated);
  for (Seconds rest = kFirstRest;; rest = std::min(2 * rest, kLongestRest)) {
    const Moment tired = begin + kLongestTry;
    if (reconcile.now() < tired) return {};
    begin = tired + rest;
    if (reconcile.now() < begin) return begin;
  }
}

std::optional<Moment> gives_way_until(const Reconcile& reconcile) {
  const bool is_patient = reconcile.now() < reconcile.since(kCreated) + kPatience;
  if (!is_patient && reconcile.seen.cluster->is_another_first()) return reconcile.now() + kLookForRoom;
  return end_of_rest(reconcile);
}

}  // namespace

bool is_refused_before(const GnnJob& other, const GnnJob& job) {
  const auto age = [](const GnnJob& j) { return std::tuple(j.meta.created.value_or(Moment{}), j.meta.name); };
  const Condition* created = find_condition(other.status.conditions, kCreated);
  return other.meta.space == job.meta.space && other.meta.uid != job.meta.uid && age(other) < age(job) &&
         !has_ended(other.status.conditions) && created && !created->holds && created->reason == kRefused;
}

Next tell_refusal(Reconcile& reconcile) {
  const auto first = std::ranges::find_if_not(
      reconcile.seen.refusals, [&](const Refusal& refusal) { return is_of_request(refusal, reconcile); });
  if (first == reconcile.seen.refusals.end()) return Next::kContinue;
  reconcile.say(kCreated, false, kRefused,
                fmt::format("{} is refused by the API server: {}", first->object, first->message));
  reconcile.requeue_at(reconcile.now() + kLookForRoom);
  return Next::kContinue;  // the next try may be accepted
}

void tell_what_is_kept(Reconcile& reconcile) {
  const auto& kept = reconcile.seen.undeleted;
  if (kept.empty()) {
    // While a deletion is tried again, its outcome isn't known yet.
    if (reconcile.holds(kDeletionRefused) && !reconcile.has_deletions())
      reconcile.say(kDeletionRefused, false, "NotRefused", "what was to be deleted is gone, or may stay");
    return;
  }
  const Refusal& first = *std::ranges::min_element(kept, {}, &Refusal::object);  // kept has no fixed order
  std::string message =
      fmt::format("{} is to be deleted, which the API server refuses: {}", first.object, first.message);
  if (kept.size() > 1) message += fmt::format(" (and {} more)", kept.size() - 1);
  if (has_ended(reconcile.status.conditions)) return reconcile.tell(true, kDeletionRefused, message);
  reconcile.say(kDeletionRefused, true, kDeletionRefused, message);
}

Next give_way(Reconcile& reconcile) {
  if (!is_refused_pods(reconcile)) return Next::kContinue;
  // The half of a gang that has nodes takes room from other jobs.
  if (reconcile.holds(kPlaced)) {
    withdraw(reconcile, reconcile.condition(kCreated)->message);
    return Next::kDone;
  }
  const auto until = gives_way_until(reconcile);
  reconcile.requeue_at(until.value_or(reconcile.now() + kLookForRoom));
  if (!until) return Next::kContinue;
  std::string message = reconcile.condition(kCreated)->message;
  if (!message.ends_with(kGaveWay)) message += kGaveWay;
  reconcile.say(kCreated, false, kRefused, message);
  for (const PodView* pod : reconcile.gang().pods())
    if (is_gated(*pod)) dismiss(reconcile, *pod);
  return Next::kDone;
}

Next refuse_malformed(Reconcile& reconcile) {
  const std::string pod = trial_pod(reconcile.job(), reconcile.settings, reconcile.gang().servers[0]);
  if (pod.empty()) return Next::kContinue;
  if (!reconcile.seen.pod_fault) {
    reconcile.ask_for_fault_of(pod);
    return Next::kDone;
  }
  if (reconcile.seen.pod_fault->empty()) return Next::kContinue;
  fail_job(reconcile, "InvalidSpec",
           "the API server refuses pods with this template and these volumes: " +
               in_manifest(*reconcile.seen.pod_fault, pod));
  return Next::kDone;
}

}  // namespace atl::ctl
