// Nodes for a gang that waits for room. A gated pod makes no autoscaler add nodes, and a released one has its
// node already. So something is asked for in the gang's place (objects.h): placeholder pods, or
// CapacityBuffers. It asks for all that waits, not for what is missing: what is asked for takes room that is
// there before it makes the autoscaler add any.
//
// NodesRequested says since when. Enough nodes come in time, and the gang is placed; or what was asked for is
// taken back, and asked for again after as long as the gang has waited by then: ever less often, and all of
// this can be told from the times in the status. Placeholders have less priority than anybody, so they hold
// nodes, but take no room.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "operator/controller/places.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

constexpr const char *kAsked = "Asked", *kNotNeeded = "NotNeeded", *kNotNow = "NotNow";
constexpr Seconds kShortestRest{300}, kLongestRest{14'400}, kMadeAgain{60};

bool is_placeholder(const PodView& pod, const Reconcile& reconcile) {
  return is_own(pod.meta, reconcile.seen) && pod.meta.label(kRoleLabel) == kPlaceholderRole;
}

bool is_request(const ObjectView& object, const Reconcile& reconcile) {
  return is_own(object.meta, reconcile.seen) &&
         (object.kind == Kind::kPodTemplate || object.kind == Kind::kCapacityBuffer);
}

bool is_by_buffers(const Reconcile& reconcile) {
  return reconcile.settings.scale_up == ScaleUp::kCapacityBuffers;
}

/// The room to ask for, and for how many pods; by the name of the pod or the buffer that asks.
struct Share {
  WantedRoom room;
  std::size_t pods = 1;
};
using Shares = std::map<std::string, Share>;

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
    if (is_request(object, reconcile) && !stays(object.meta) && !object.meta.deletion)
      reconcile.remove(object.kind, object.meta);
}

// What is asked for: room for each server that waits for a place, and for the launcher.

std::vector<std::size_t> waiting_servers(const Reconcile& reconcile) {
  std::vector<std::size_t> waiting;
  const auto& workers = reconcile.gang().workers;
  for (std::size_t s = 0; s < workers.size(); ++s)
    if (!workers[s] || is_gated(*workers[s])) waiting.push_back(s);
  return waiting;
}

bool is_launcher_waiting(const Reconcile& reconcile) {
  const PodView* launcher = reconcile.gang().launcher;
  return launcher && launcher->pinned.empty() && !launcher->is_bound();
}

WantedRoom room_of(const Reconcile& reconcile, const Gang& gang, const GangPlan& plan,
                   const std::string& role) {
  const bool is_launcher = role == kLauncherRole;
  WantedRoom room{role, is_launcher ? gang.launcher : gang.server};
  room.excluded = gang.filter.excluded;
  if (is_launcher) return room;
  room.reach = plan.reach;
  if (gang.within >= 0) room.together = gang.levels[std::size_t(gang.within)];
  room.is_together_required = reconcile.spec().placement.policy == PlacementPolicy::kRequired;
  return room;
}

Shares shares_of(const Reconcile& reconcile, const Gang& gang, const GangPlan& plan) {
  Shares shares;
  auto waiting = waiting_servers(reconcile);
  const WantedRoom server = room_of(reconcile, gang, plan, kWorkerRole);
  const auto name = [&](const std::string& part) { return room_name(reconcile.name(), part); };
  if (!plan.first_reach.empty()) {
    Share& first = shares[name(is_by_buffers(reconcile) ? "first" : "0")] = {server, 1};
    std::ranges::copy(plan.first_reach, std::back_inserter(first.room.reach));
    std::erase(waiting, 0U);
  }
  if (!is_by_buffers(reconcile))
    for (const std::size_t s : waiting) shares[name(std::to_string(s))] = {server, 1};
  else if (!waiting.empty())
    shares[name(fmt::format("{}-{}", waiting.size(), kWorkerRole))] = {server, waiting.size()};
  if (is_launcher_waiting(reconcile))
    shares[name(kLauncherRole)] = {room_of(reconcile, gang, plan, kLauncherRole), 1};
  return shares;
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
  return gang.within >= 0 && waiting_servers(reconcile).size() < gang.servers.size();
}

Seconds patience_of(const Reconcile& reconcile) {
  return Seconds(reconcile.settings.scale_up_seconds);
}

/// Since when the gang has waited for places, or for what comes before them.
Moment waits_since(const Reconcile& reconcile) {
  const Condition* suspended = find_condition(reconcile.status.conditions, kSuspended);
  const Moment since = reconcile.since(kPlaced);
  return suspended ? std::max(since, suspended->changed) : since;
}

/// Until when nothing is asked for, after it was in vain; nothing: it may be.
std::optional<Moment> end_of_rest(const Reconcile& reconcile) {
  if (reconcile.reason_against(kNodesRequested) != kNoNodes) return {};
  const Moment failed = reconcile.since(kNodesRequested);
  const Seconds waited = std::max(failed - waits_since(reconcile), Seconds(0));
  const Moment end = failed + std::clamp(waited, kShortestRest, kLongestRest);
  return reconcile.now() < end ? std::optional(end) : std::nullopt;
}

/// Why what is asked for is asked for in vain, or "": the API server refuses it, or it has had its time.
std::string why_in_vain(const Reconcile& reconcile) {
  if (!reconcile.holds(kNodesRequested)) return {};
  const auto refusal = std::ranges::find_if(
      reconcile.seen.refusals, [&](const Refusal& each) { return is_of_request(each, reconcile); });
  if (refusal != reconcile.seen.refusals.end())
    return fmt::format("no nodes can be asked for: {} is refused by the API server: {}", refusal->object,
                       refusal->message);
  for (const PodView& pod : reconcile.seen.pods)
    if (!is_own(pod.meta, reconcile.seen) && pod.meta.name.starts_with(room_prefix(reconcile.name())))
      return fmt::format("no nodes can be asked for: Pod {} isn't this job's (delete it, or rename the job)",
                         pod.meta.name);
  if (reconcile.now() < reconcile.since(kNodesRequested) + patience_of(reconcile)) return {};
  return fmt::format(
      "within {} s (scaleUp.patienceSeconds of the chart) too few nodes have come; what asked for them is "
      "deleted. See what the autoscaler says, and whether it may add nodes that the job's pods can use",
      patience_of(reconcile).count());
}

/// Adds to the reasons against places.
void add_words(Reconcile& reconcile, const std::string& words) {
  const Condition* placed = find_condition(reconcile.status.conditions, kPlaced);
  reconcile.say(kPlaced, false, kNoRoom, fmt::format("{}; {}", placed->message, words));
}

std::string words_for(const Reconcile& reconcile, const Gang& gang) {
  const std::size_t servers = waiting_servers(reconcile).size();
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
  const std::string words = words_for(reconcile, gang);
  reconcile.say(kNodesRequested, true, kAsked, words);
  reconcile.requeue_at(reconcile.since(kNodesRequested) + patience_of(reconcile));
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
  if (!find_condition(reconcile.status.conditions, kNodesRequested)) return;  // nothing ever was
  if (reconcile.holds(kNodesRequested)) reconcile.say(kNodesRequested, false, reason, message);
  take_back_all_but(reconcile, {});
  if (reconcile.has_writes()) reconcile.next_stage();
}

Next end_needless_request(Reconcile& reconcile) {
  const bool waits = !has_ended(reconcile.status.conditions) && reconcile.holds(kCreated) &&
                     reconcile.reason_against(kPlaced) == kNoRoom;
  if (waits && reconcile.settings.scale_up != ScaleUp::kNone) return Next::kContinue;
  end_request(reconcile, kNotNeeded, "the job does not wait for room");
  return done_if(reconcile.has_writes());
}

void request_nodes(Reconcile& reconcile, const GangPlan& plan) {
  if (reconcile.settings.scale_up == ScaleUp::kNone) return;
  const Gang gang = gang_to_place(reconcile);
  if (!plan.would_nodes_help || is_bound_to_others(reconcile, gang))
    return end_request(reconcile, kNotNeeded, "more nodes would not make the gang fit");
  if (const std::string why = why_in_vain(reconcile); !why.empty())
    reconcile.say(kNodesRequested, false, kNoNodes, why);
  if (const auto end = end_of_rest(reconcile)) {
    reconcile.requeue_at(*end);
    add_words(reconcile,
              fmt::format("nodes were asked for in vain (see NodesRequested), and will be again at {}",
                          text_of(*end)));
    return end_request(reconcile, kNoNodes, "");
  }
  const std::string why = reconcile.seen.cluster->why_no_request(waiting_servers(reconcile).size());
  if (why.empty()) return ask(reconcile, gang, plan);
  end_request(reconcile, kNotNow, why);
  add_words(reconcile, "no nodes are asked for now: " + why);
}

}  // namespace atl::ctl
