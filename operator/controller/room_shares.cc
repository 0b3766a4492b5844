#include "operator/controller/room_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/sha256.h"
#include "operator/objects/names.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

/// What a domain is drawn by. It stays the same while others come and go.
std::string lot_of(const std::vector<LabelRule>& domain) {
  std::string lot;
  for (const LabelRule& rule : domain) lot += rule.comparison == "In" ? text(rule) : rule.comparison;
  return lot;
}

/// The domain to ask in; empty: any. The scheduler gives the first placeholder any domain with a free slot,
/// and all others must follow, into one that perhaps can't grow. So a gang that asked in vain asks in one
/// that is drawn: anew after each failure, and the same as long as it asks.
NodeTerms domain_to_ask_in(const Reconcile& reconcile, const GangPlan& plan) {
  const bool is_required = reconcile.spec().placement.policy == PlacementPolicy::kRequired;
  if (!is_required || !asks_again(reconcile) || plan.domains.empty()) return {};
  const std::string draw = reconcile.job().meta.uid + text_of(reconcile.since(kNodesRequested));
  NodeTerms domain;
  domain.push_back(*std::ranges::max_element(
      plan.domains, {}, [&](const std::vector<LabelRule>& each) { return sha256_hex(draw + lot_of(each)); }));
  return domain;
}

WantedRoom room_of(const Reconcile& reconcile, const Gang& gang, const GangPlan& plan,
                   const std::string& role) {
  const bool is_launcher = role == kLauncherRole;
  WantedRoom room{role, is_launcher ? gang.launcher : gang.server};
  room.excluded = gang.filter.excluded;
  if (is_launcher) return room;
  room.reach = plan.reach;
  if (NodeTerms domain = domain_to_ask_in(reconcile, plan); !domain.empty())
    room.reach.push_back(std::move(domain));
  if (gang.within >= 0) room.together = gang.levels[std::size_t(gang.within)];
  room.is_together_required = reconcile.spec().placement.policy == PlacementPolicy::kRequired;
  return room;
}

}  // namespace

std::vector<std::size_t> servers_that_wait(const Reconcile& reconcile) {
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

bool asks_again(const Reconcile& reconcile) {
  const Condition* request = find_condition(reconcile.status.conditions, kNodesRequested);
  return request && request->reason == kAskedAgain;
}

Shares shares_of(const Reconcile& reconcile, const Gang& gang, const GangPlan& plan) {
  Shares shares;
  auto waiting = servers_that_wait(reconcile);
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

}  // namespace atl::ctl
