// Nodes for a gang that waits for room. A gated pod makes no autoscaler add nodes, and a released one has its
// node already. So something is asked for in the gang's place (objects.h): placeholder pods, or
// CapacityBuffers. It asks for all that waits, not for what is missing: what is asked for takes room that is
// there before it makes the autoscaler add any.
//
// NodesRequested says since when. Enough nodes come in time, and the gang is placed; or what was asked for is
// taken back, and asked for again: soon if some had come, so that they are still there, else after as long as
// the gang has waited by then, so ever less often. All of this can be told from the times in the status and
// of the pods. Placeholders have less priority than anybody, so they hold nodes, but take no room.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "operator/controller/places.h"
#include "operator/controller/room_shares.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

constexpr const char *kAsked = "Asked", *kNotNeeded = "NotNeeded", *kNotNow = "NotNow";
constexpr Seconds kShortestRest{300}, kLongestRest{14'400}, kMadeAgain{60};
constexpr Seconds kTakesRoom{30};  // in which placeholders have the room that was there before any node came

bool is_placeholder(const PodView& pod, const Reconcile& reconcile) {
  return is_own(pod.meta, reconcile.seen) && pod.meta.label(kRoleLabel) == kPlaceholderRole;
}

bool is_request(const ObjectView& object, const Reconcile& reconcile) {
  return is_own(object.meta, reconcile.seen) &&
         (object.kind == Kind::kPodTemplate || object.kind == Kind::kCapacityBuffer);
}

/// Whether it has ended and may be made again; not at once, for its kubelet may reject one after the other.
bool is_spent(Reconcile& reconcile, const PodView& pod) {
  if (!pod.has_ended()) return false;
  const Moment end = pod.meta.created.value_or(Moment{}) + kMadeAgain;
  if (reconcile.now() < end) reconcile.requeue_at(end);
  return reconcile.now() >= end;
}

/// Takes back what isn't among these, is of another manifest, or is spent. Then its name can be used again.
void take_back_all_but(Reconcile& reconcile, const Shares& shares) {
  const auto stays = [&](const Meta& meta) {
    return shares.contains(meta.name) && meta.label(kManifestLabel) == reconcile.job().made_of.manifest;
  };
  for (const PodView& pod : reconcile.seen.pods)
    if (is_placeholder(pod, reconcile) &&
        (is_by_buffers(reconcile) || !stays(pod.meta) || is_spent(reconcile, pod)))
      dismiss(reconcile, pod);
  for (const ObjectView& object : reconcile.seen.objects)
    if (is_request(object, reconcile) && !object.meta.deletion &&
        (!is_by_buffers(reconcile) || !stays(object.meta)))
      reconcile.remove(object.kind, object.meta);
}

bool is_there(const Reconcile& reconcile, const std::string& pod) {
  return std::ranges::any_of(reconcile.seen.pods,
                             [&](const PodView& other) { return other.meta.name == pod; });
}

void make_what_is_missing(Reconcile& reconcile, const Shares& shares) {
  for (const auto& [name, share] : shares) {
    if (!is_by_buffers(reconcile) && !is_there(reconcile, name))
      reconcile.create(Kind::kPod, name,
                       placeholder_pod(reconcile.job(), reconcile.settings, share.room, name));
    if (is_by_buffers(reconcile) && !reconcile.find(Kind::kPodTemplate, name))
      reconcile.create(Kind::kPodTemplate, name,
                       room_template(reconcile.job(), reconcile.settings, share.room, name));
  }
  if (!is_by_buffers(reconcile)) return;
  reconcile.next_stage();  // a buffer whose template isn't there yet is a faulty one for a while
  for (const auto& [name, share] : shares)
    if (!reconcile.find(Kind::kCapacityBuffer, name))
      reconcile.create(Kind::kCapacityBuffer, name, capacity_buffer(reconcile.job(), name, share.pods));
}

// When it is asked.

/// Whether a part of the gang stands in the domain that must hold all, of which an autoscaler knows nothing.
bool is_bound_to_others(const Reconcile& reconcile, const Gang& gang) {
  return gang.within >= 0 && servers_that_wait(reconcile).size() < gang.servers.size();
}

/// When the last node came for a placeholder; nothing: none has, or buffers ask, which don't tell.
std::optional<Moment> last_node_came(const Reconcile& reconcile) {
  std::optional<Moment> last;
  for (const PodView& pod : reconcile.seen.pods)
    if (is_placeholder(pod, reconcile) && pod.is_bound() && !pod.has_ended() && pod.scheduled &&
        *pod.scheduled > reconcile.since(kNodesRequested) + kTakesRoom)
      last = std::max(last, pod.scheduled);
  return last;
}

Seconds patience_of(const Reconcile& reconcile) {
  return Seconds(reconcile.settings.scale_up_seconds);
}

/// Patience begins anew with each node that comes, for a pool may be slow; but no later than as if each
/// server had used one up, because a placeholder that loses its node may get another for ever.
Moment end_of_patience(const Reconcile& reconcile) {
  const Moment asked = reconcile.since(kNodesRequested);
  const Moment latest = asked + patience_of(reconcile) * int(servers_that_wait(reconcile).size());
  return std::min(last_node_came(reconcile).value_or(asked), latest) + patience_of(reconcile);
}

/// Since when the gang has waited for places, or for what comes before them.
Moment waits_since(const Reconcile& reconcile) {
  const Condition* suspended = find_condition(reconcile.status.conditions, kSuspended);
  const Moment since = reconcile.since(kPlaced);
  return suspended ? std::max(since, suspended->changed) : since;
}

/// Until when nothing is asked for, after it was in vain; nothing: it may be.
std::optional<Moment> end_of_rest(const Reconcile& reconcile) {
  const std::string reason = reconcile.reason_against(kNodesRequested);
  if (!is_in_vain(reason)) return {};
  const Moment failed = reconcile.since(kNodesRequested);
  const Seconds waited = std::max(failed - waits_since(reconcile), Seconds(0));
  const Seconds rest = std::clamp(waited, kShortestRest, kLongestRest);
  const Moment end = failed + (reason == kTooFewNodes ? kShortestRest : rest);
  return reconcile.now() < end ? std::optional(end) : std::nullopt;
}

/// Why nothing can be asked for, or "": the API server refuses it, or somebody has its name.
std::string why_refused(const Reconcile& reconcile) {
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

/// Says so where it is asked in vain: that is refused, or has had its time.
void give_up_if_in_vain(Reconcile& reconcile) {
  if (!reconcile.holds(kNodesRequested)) return;
  if (const std::string why = why_refused(reconcile); !why.empty())
    return reconcile.say(kNodesRequested, false, kNoNodes, why);
  if (reconcile.now() < end_of_patience(reconcile)) return;
  const bool is_any = last_node_came(reconcile).has_value();
  reconcile.say(
      kNodesRequested, false, is_any ? kTooFewNodes : kNoNodes,
      fmt::format("within {} s{} (scaleUp.patienceSeconds of the chart) too few nodes have come; what asked "
                  "for them is deleted. See what the autoscaler says, and whether it may add nodes that the "
                  "job's pods can use",
                  patience_of(reconcile).count(), is_any ? " of the last node" : ""));
}

/// Why the gang may not ask now, for a message; "": it may, and counts as one that asks.
std::string why_not_now(const Reconcile& reconcile, const GangPlan& plan) {
  if (plan.would_fit_unreserved && !reconcile.holds(kNodesRequested))
    return "the present room would do, but for what is reserved for another gang";
  return reconcile.seen.cluster->why_no_request(servers_that_wait(reconcile).size());
}

/// Adds to the reasons against places.
void add_words(Reconcile& reconcile, const std::string& words) {
  const Condition* placed = find_condition(reconcile.status.conditions, kPlaced);
  reconcile.say(kPlaced, false, kNoRoom, fmt::format("{}; {}", placed->message, words));
}

std::string words_for(const Reconcile& reconcile, const Gang& gang) {
  const std::size_t servers = servers_that_wait(reconcile).size();
  return fmt::format("asked the autoscaler, by {}, for nodes for {} server{} ({}{}){}",
                     is_by_buffers(reconcile) ? "a CapacityBuffer" : "placeholder pods", servers,
                     servers == 1 ? "" : "s", gang.server.text(), servers == 1 ? "" : " each",
                     is_launcher_waiting(reconcile) ? " and a launcher" : "");
}

/// How many placeholders have nodes.
std::string words_for_nodes(const Reconcile& reconcile) {
  if (is_by_buffers(reconcile)) return {};
  const auto nodes = std::ranges::count_if(reconcile.seen.pods, [&](const PodView& pod) {
    return is_placeholder(pod, reconcile) && pod.is_bound() && !pod.has_ended();
  });
  return fmt::format("; {} of these pods have a node", nodes);
}

void ask(Reconcile& reconcile, const Gang& gang, const GangPlan& plan) {
  const bool is_again = asks_again(reconcile) || reconcile.reason_against(kNodesRequested) == kNoNodes;
  const std::string words = words_for(reconcile, gang);
  reconcile.say(kNodesRequested, true, is_again ? kAskedAgain : kAsked, words);
  reconcile.requeue_at(end_of_patience(reconcile));
  add_words(reconcile, words + words_for_nodes(reconcile));
  const Shares shares = shares_of(reconcile, gang, plan);
  take_back_all_but(reconcile, shares);
  make_what_is_missing(reconcile, shares);
}

}  // namespace

bool is_of_request(const Refusal& refusal, const Reconcile& reconcile) {
  const std::size_t space = refusal.object.find(' ');  // "Pod cora-room-0"
  return space != std::string::npos &&
         refusal.object.substr(space + 1).starts_with(room_prefix(reconcile.name()));
}

void end_request(Reconcile& reconcile, const char* reason, const std::string& message) {
  if (reconcile.holds(kNodesRequested)) reconcile.say(kNodesRequested, false, reason, message);
}

void take_back_request(Reconcile& reconcile) {
  if (!find_condition(reconcile.status.conditions, kNodesRequested)) return;  // nothing ever was
  if (reconcile.has_writes()) reconcile.next_stage();
  take_back_all_but(reconcile, {});
  if (reconcile.has_writes()) reconcile.next_stage();
}

void end_needless_request(Reconcile& reconcile) {
  if (reconcile.job().meta.deletion) return;  // its objects are deleted after it
  const bool waits = !has_ended(reconcile.status.conditions) && reconcile.holds(kCreated) &&
                     reconcile.reason_against(kPlaced) == kNoRoom &&
                     reconcile.settings.scale_up != ScaleUp::kNone;
  if (!waits) end_request(reconcile, kNotNeeded, "the job does not wait for room");
  if (!waits || !reconcile.holds(kNodesRequested)) take_back_request(reconcile);
}

void request_nodes(Reconcile& reconcile, const GangPlan& plan) {
  if (reconcile.settings.scale_up == ScaleUp::kNone) return;
  const Gang gang = gang_to_place(reconcile);
  if (!plan.would_nodes_help || is_bound_to_others(reconcile, gang))
    return end_request(reconcile, kNotNeeded, "more nodes would not make the gang fit");
  give_up_if_in_vain(reconcile);
  if (const auto end = end_of_rest(reconcile)) {
    reconcile.requeue_at(*end);
    return add_words(reconcile,
                     fmt::format("nodes were asked for in vain (see NodesRequested), and will be again at {}",
                                 text_of(*end)));
  }
  const std::string why = why_not_now(reconcile, plan);
  if (why.empty()) return ask(reconcile, gang, plan);
  end_request(reconcile, kNotNow, why);
  add_words(reconcile, "no nodes are asked for now: " + why);
}

}  // namespace atl::ctl
