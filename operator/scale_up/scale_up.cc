#include "operator/scale_up/scale_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/sha256.h"
#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

constexpr const char *kAsked = "Asked", *kAskedAgain = "AskedAgain", *kNotNow = "NotNow";
constexpr Seconds kShortestRest{300}, kLongestRest{14'400};
constexpr Seconds kTakesRoom{30};  // a node that a placeholder gets later is a new one

bool is_asked(const WaitingGang& waiting) {
  return waiting.request && waiting.request->holds;
}

/// Since when the present request has asked for nodes. If there is none, this is now, when the next one would
/// begin.
Moment asked_since(const WaitingGang& waiting) {
  return is_asked(waiting) ? waiting.request->changed : waiting.now;
}

// What is asked for: room for each server that waits for a place, and for the launcher.

/// The text that decides a domain's draw. It doesn't depend on which other domains exist.
std::string lot_of(const std::vector<LabelRule>& domain) {
  std::string lot;
  for (const LabelRule& rule : domain) lot += rule.comparison == "In" ? text(rule) : rule.comparison;
  return lot;
}

/// The domain in which to ask for room; empty: any. The scheduler puts the first placeholder into any domain
/// with a free slot, and all others must follow it, perhaps into a domain that can't grow. So a gang that has
/// asked in vain draws a domain to ask in. It draws a new one after each failure, and keeps it as long as it
/// asks.
NodeTerms domain_to_ask_in(const WaitingGang& waiting, bool is_again) {
  const bool is_required = waiting.job.job->placement.policy == PlacementPolicy::kRequired;
  if (!is_required || !is_again || waiting.plan.domains.empty()) return {};
  const std::string draw = waiting.job.meta.uid + text_of(asked_since(waiting));
  NodeTerms domain;
  domain.push_back(*std::ranges::max_element(
      waiting.plan.domains, {},
      [&](const std::vector<LabelRule>& each) { return sha256_hex(draw + lot_of(each)); }));
  return domain;
}

WantedRoom room_of_server(const WaitingGang& waiting, bool is_again) {
  const Gang& gang = waiting.gang;
  WantedRoom room{kWorkerRole, gang.server, waiting.plan.reach, gang.filter.excluded};
  if (NodeTerms domain = domain_to_ask_in(waiting, is_again); !domain.empty())
    room.reach.push_back(std::move(domain));
  if (gang.within >= 0) room.together = gang.levels[std::size_t(gang.within)];
  room.is_together_required = waiting.job.job->placement.policy == PlacementPolicy::kRequired;
  return room;
}

/// `is_again` says that an earlier request of the gang was in vain.
Shares shares_of(const WaitingGang& waiting, bool is_again) {
  Shares shares;
  const bool is_by_buffers = ctl::is_by_buffers(waiting.settings);
  const WantedRoom room = room_of_server(waiting, is_again);
  const auto name = [&](const std::string& part) { return room_name(waiting.job.meta.name, part); };
  std::vector<int> servers = waiting.servers;
  if (!waiting.plan.first_reach.empty()) {
    Share& first = shares[name(is_by_buffers ? "first" : "0")] = {room, 1};
    std::ranges::copy(waiting.plan.first_reach, std::back_inserter(first.room.reach));
    std::erase(servers, 0);
  }
  if (!is_by_buffers)
    for (const int server : servers) shares[name(std::to_string(server))] = {room, 1};
  else if (!servers.empty())
    shares[name(fmt::format("{}-{}", servers.size(), kWorkerRole))] = {room, servers.size()};
  if (waiting.is_launcher_waiting)
    shares[name(kLauncherRole)] = {{kLauncherRole, waiting.gang.launcher, {}, waiting.gang.filter.excluded},
                                   1};
  return shares;
}

// When nodes are asked for.

Seconds patience_of(const WaitingGang& waiting) {
  return Seconds(waiting.settings.scale_up_seconds);
}

bool holds_node(const PodView& placeholder) {
  return placeholder.is_bound() && !placeholder.has_ended();
}

/// When the last new node came for a placeholder. Nothing if none has come, or if buffers ask, which don't
/// tell.
std::optional<Moment> last_node_came(const WaitingGang& waiting) {
  std::optional<Moment> last;
  for (const PodView* pod : waiting.placeholders)
    if (holds_node(*pod) && pod->scheduled && *pod->scheduled > asked_since(waiting) + kTakesRoom)
      last = std::max(last, pod->scheduled);
  return last;
}

/// When the request's time is over. It begins anew with each node that comes, because a pool of nodes may be
/// slow. The end is limited, as if each server had used up one such time, because a placeholder that loses
/// its node may get new nodes for ever.
Moment end_of_patience(const WaitingGang& waiting) {
  const Moment asked = asked_since(waiting);
  const Moment latest = asked + patience_of(waiting) * int(waiting.servers.size());
  return std::min(last_node_came(waiting).value_or(asked), latest) + patience_of(waiting);
}

/// A request that was in vain.
struct Failure {
  std::string reason, message;
  Moment since;
};

/// The failure of the last request, if it was refused or its time is over, whether that is found now or is in
/// the status.
std::optional<Failure> failure_of(const WaitingGang& waiting) {
  const Condition* request = waiting.request;
  if (!is_asked(waiting))
    return request && is_in_vain(request->reason)
               ? std::optional(Failure{request->reason, request->message, request->changed})
               : std::nullopt;
  if (!waiting.obstacle.empty()) return Failure{kNoNodes, waiting.obstacle, waiting.now};
  if (waiting.now < end_of_patience(waiting)) return {};
  const bool is_any = last_node_came(waiting).has_value();
  return Failure{
      is_any ? kTooFewNodes : kNoNodes,
      fmt::format("within {} s{} (scaleUp.patienceSeconds of the chart) too few nodes have come; what asked "
                  "for them is deleted. See what the autoscaler says, and whether it may add nodes that the "
                  "job's pods can use",
                  patience_of(waiting).count(), is_any ? " of the last node" : ""),
      waiting.now};
}

/// How long nothing is asked for after a failure.
Moment end_of_rest(const WaitingGang& waiting, const Failure& failure) {
  const Seconds waited = std::max(failure.since - waiting.since, Seconds(0));
  return failure.since +
         (failure.reason == kTooFewNodes ? kShortestRest : std::clamp(waited, kShortestRest, kLongestRest));
}

// What comes of the request.

std::string words_for(const WaitingGang& waiting) {
  const std::size_t servers = waiting.servers.size();
  return fmt::format("asked the autoscaler, by {}, for nodes for {} server{} ({}{}){}",
                     is_by_buffers(waiting.settings) ? "a CapacityBuffer" : "placeholder pods", servers,
                     servers == 1 ? "" : "s", waiting.gang.server.text(), servers == 1 ? "" : " each",
                     waiting.is_launcher_waiting ? " and a launcher" : "");
}

/// Says how many placeholders have nodes.
std::string words_for_nodes(const WaitingGang& waiting) {
  if (is_by_buffers(waiting.settings)) return {};
  const auto nodes =
      std::ranges::count_if(waiting.placeholders, [](const PodView* pod) { return holds_node(*pod); });
  return fmt::format("; {} of these pods have a node", nodes);
}

NodeRequest asked(const WaitingGang& waiting) {
  const Condition* before = waiting.request;
  const bool is_again =
      before && (before->reason == kAskedAgain || (!before->holds && before->reason == kNoNodes));
  const std::string words = words_for(waiting);
  return {true,
          is_again ? kAskedAgain : kAsked,
          words,
          words + words_for_nodes(waiting),
          shares_of(waiting, is_again),
          end_of_patience(waiting)};
}

/// The answer if nothing is asked for, or no longer.
NodeRequest not_asked(const WaitingGang& waiting, const std::string& reason, const std::string& message,
                      const std::string& words) {
  return {false, is_asked(waiting) ? reason : "", message, words, {}, {}};
}

}  // namespace

NodeRequest request_for(const WaitingGang& waiting, NodeBudget& budget) {
  // A part of the gang may already be in the domain that must hold all of it. An autoscaler doesn't know
  // that.
  const bool is_bound_to_others =
      waiting.gang.within >= 0 && waiting.servers.size() < waiting.gang.servers.size();
  if (!waiting.plan.would_nodes_help || is_bound_to_others)
    return not_asked(waiting, kNotNeeded, "more nodes would not make the gang fit", "");
  if (const auto failure = failure_of(waiting))
    if (const Moment end = end_of_rest(waiting, *failure); waiting.now < end) {
      NodeRequest rests =
          not_asked(waiting, failure->reason, failure->message,
                    fmt::format("nodes were asked for in vain (see NodesRequested), and will be again at {}",
                                text_of(end)));
      rests.look_again = end;
      return rests;
    }
  const std::string why = waiting.plan.would_fit_unreserved && !is_asked(waiting)
                              ? "the present room would do, but for what is reserved for another gang"
                              : budget.why_no_request(waiting.servers.size());
  if (!why.empty()) return not_asked(waiting, kNotNow, why, "no nodes are asked for now: " + why);
  return asked(waiting);
}

}  // namespace atl::ctl
