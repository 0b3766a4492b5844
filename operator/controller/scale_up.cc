// Nodes for a gang that waits for room. Makes the objects that ask an autoscaler for nodes
// (operator/scale_up), and deletes them again. Placeholder pods have less priority than any other pod, so
// they keep nodes from being removed, but take no room from anybody.
#include "operator/scale_up/scale_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "operator/controller/places.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

constexpr Seconds kMadeAgain{60};

bool is_request(const ObjectView& object, const Reconcile& reconcile) {
  return is_own(object.meta, reconcile.seen) &&
         (object.kind == Kind::kPodTemplate || object.kind == Kind::kCapacityBuffer);
}

/// Deletes the objects that aren't in `shares`, that another manifest was made for, or that have ended. The
/// name of an ended placeholder can then be used again. It is deleted only after a minute, because a kubelet
/// may reject one placeholder after the other.
void take_back_all_but(Reconcile& reconcile, const Shares& shares) {
  const auto stays = [&](const Meta& meta) {
    return shares.contains(meta.name) && meta.label(kManifestLabel) == reconcile.job().made_of.manifest;
  };
  for (const PodView* pod : reconcile.own_pods(kPlaceholderRole))
    if (is_by_buffers(reconcile.settings) || !stays(pod->meta) ||
        (pod->has_ended() && reconcile.await(pod->meta.created.value_or(Moment{}) + kMadeAgain)))
      dismiss(reconcile, *pod);
  for (const ObjectView& object : reconcile.seen.objects)
    if (is_request(object, reconcile) && !object.meta.deletion &&
        (!is_by_buffers(reconcile.settings) || !stays(object.meta)))
      reconcile.remove(object.kind, object.meta);
}

bool is_there(const Reconcile& reconcile, const std::string& pod) {
  return std::ranges::any_of(reconcile.seen.pods,
                             [&](const PodView& other) { return other.meta.name == pod; });
}

void make_what_is_missing(Reconcile& reconcile, const Shares& shares) {
  for (const auto& [name, share] : shares) {
    if (!is_by_buffers(reconcile.settings) && !is_there(reconcile, name))
      reconcile.create(Kind::kPod, name,
                       placeholder_pod(reconcile.job(), reconcile.settings, share.room, name));
    if (is_by_buffers(reconcile.settings) && !reconcile.find(Kind::kPodTemplate, name))
      reconcile.create(Kind::kPodTemplate, name,
                       room_template(reconcile.job(), reconcile.settings, share.room, name));
  }
  if (!is_by_buffers(reconcile.settings)) return;
  reconcile.next_stage();  // a buffer is faulty until its template exists
  for (const auto& [name, share] : shares)
    if (!reconcile.find(Kind::kCapacityBuffer, name))
      reconcile.create(Kind::kCapacityBuffer, name, capacity_buffer(reconcile.job(), name, share.pods));
}

/// Since when the gang has waited for places, or for what comes before them.
Moment waits_since(const Reconcile& reconcile) {
  const Condition* suspended = reconcile.condition(kSuspended);
  const Moment since = reconcile.since(kPlaced);
  return suspended ? std::max(since, suspended->changed) : since;
}

/// Why nodes can't be asked for: the API server refuses the objects, or a foreign pod has a name; or "".
std::string obstacle_to_requests(const Reconcile& reconcile) {
  const auto refusal = std::ranges::find_if(
      reconcile.seen.refusals, [&](const Refusal& each) { return is_of_request(each, reconcile); });
  if (refusal != reconcile.seen.refusals.end())
    return fmt::format("no nodes can be asked for: {} is refused by the API server: {}", refusal->object,
                       refusal->message);
  for (const PodView& pod : reconcile.seen.pods)
    if (!is_own(pod.meta, reconcile.seen) && pod.meta.name.starts_with(room_prefix(reconcile.name())))
      return fmt::format("no nodes can be asked for: Pod {} isn't this job's (delete it, or rename the job)",
                         pod.meta.name);
  return {};
}

}  // namespace

bool is_of_request(const Refusal& refusal, const Reconcile& reconcile) {
  const std::size_t space = refusal.object.find(' ');  // "Pod cora-room-0"
  return space != std::string::npos &&
         refusal.object.substr(space + 1).starts_with(room_prefix(reconcile.name()));
}

void end_request(Reconcile& reconcile, const std::string& reason, const std::string& message) {
  if (reconcile.holds(kNodesRequested)) reconcile.say(kNodesRequested, false, reason, message);
}

void take_back_request(Reconcile& reconcile) {
  if (!reconcile.condition(kNodesRequested)) return;  // nodes were never asked for
  if (reconcile.has_writes()) reconcile.next_stage();
  take_back_all_but(reconcile, {});
  if (reconcile.has_writes()) reconcile.next_stage();
}

void end_needless_request(Reconcile& reconcile) {
  if (reconcile.job().meta.deletion) return;  // the job's objects are deleted after the job
  const bool waits = !has_ended(reconcile.status.conditions) && reconcile.holds(kCreated) &&
                     reconcile.reason_against(kPlaced) == kNoRoom &&
                     reconcile.settings.scale_up != ScaleUp::kNone;
  if (!waits) end_request(reconcile, kNotNeeded, "the job does not wait for room");
  if (!waits || !reconcile.holds(kNodesRequested)) take_back_request(reconcile);
}

void request_nodes(Reconcile& reconcile, const GangPlan& plan) {
  if (reconcile.settings.scale_up == ScaleUp::kNone) return;
  const Gang gang = gang_to_place(reconcile);
  WaitingGang waiting{reconcile.job(), reconcile.settings, gang, plan, waiting_servers(reconcile)};
  const PodView* launcher = reconcile.gang().launcher;
  waiting.is_launcher_waiting = launcher && launcher->pinned.empty() && !launcher->is_bound();
  waiting.placeholders = reconcile.own_pods(kPlaceholderRole);
  waiting.request = reconcile.condition(kNodesRequested);
  waiting.since = waits_since(reconcile);
  waiting.obstacle = obstacle_to_requests(reconcile);
  waiting.now = reconcile.now();
  const NodeRequest request = request_for(waiting, *reconcile.seen.cluster);
  if (!request.reason.empty())
    reconcile.say(kNodesRequested, request.is_asked, request.reason, request.message);
  if (request.look_again) reconcile.requeue_at(*request.look_again);
  if (!request.words.empty())
    reconcile.say(kPlaced, false, kNoRoom,
                  fmt::format("{}; {}", reconcile.condition(kPlaced)->message, request.words));
  if (!request.is_asked) return;
  take_back_all_but(reconcile, request.shares);
  make_what_is_missing(reconcile, request.shares);
}

}  // namespace atl::ctl
