// Chooses the room that is kept for a gang which has waited too long.
#include "operator/plan/demand_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "operator/plan/room.h"

namespace atl::ctl {
namespace {

/// A node that the gang could use.
struct Candidate {
  const NodeRoom* room = nullptr;
  int now = 0, later = 0;  // servers that fit now, and once all jobs there have ended
  double lacks = 0;        // room missing for one more server, as a share of a server
};

/// A choice of nodes for all servers, in one domain.
struct Choice {
  std::map<const NodeRoom*, int> servers;
  double lacking = 0;  // missing room, in servers
};

using Candidates = std::vector<Candidate>;

/// The share of `need` that `free` lacks, for the scarcest resource.
double share_lacking(const Resources& need, const Resources& free) {
  double most = 0;
  for (const auto& [resource, amount] : need.amounts())
    if (amount > 0) most = std::max(most, (double(amount) - double(free.of(resource))) / double(amount));
  return most;
}

Candidate candidate_of(const NodeRoom& node, int now, int later, const Gang& gang) {
  const int more = now + 1;
  return {&node, now, later, now < later ? more * share_lacking(gang.server * more, node.free) : 0};
}

using Names = std::set<std::string>;

/// The candidates by domain of the level that must hold all servers. They are sorted by name.
std::map<std::vector<std::string>, Candidates> candidates_by_domain(const Gang& gang, const Room& room,
                                                                    const Names& but) {
  std::map<std::vector<std::string>, Candidates> domains;
  for (const NodeRoom& node : room.usable()) {
    if (but.contains(node.node->name)) continue;
    const Site now = room.site(node, node.free), later = room.site(node, node.cleared);
    if (later.slots == 0) continue;
    std::vector<std::string> domain;
    for (int level = 0; level <= gang.within; ++level) domain.emplace_back(now.domain_at(level));
    domains[domain].push_back(candidate_of(node, now.slots, later.slots, gang));
  }
  return domains;
}

/// Moves the first candidate that takes server 0 to the front. Returns false if there is none.
bool begin_with_first(Candidates& candidates) {
  const auto first = std::ranges::find_if(candidates, [](const Candidate& c) { return c.room->takes_first; });
  if (first == candidates.end()) return false;
  std::rotate(candidates.begin(), first, first + 1);
  return true;
}

std::optional<Choice> choose(Candidates candidates, int left) {
  Choice choice;
  const auto take = [&](const Candidate& candidate, int slots) {
    const int taken = std::min(left, slots);
    left -= taken;
    if (taken > 0) choice.servers[candidate.room] += taken;
    return taken;
  };
  // Equal candidates stay sorted by name.
  std::ranges::stable_sort(candidates, std::greater(), &Candidate::now);
  if (!begin_with_first(candidates)) return {};
  const int kept_for_first = candidates[0].now == 0 ? 1 : 0;
  left -= kept_for_first;
  for (const Candidate& candidate : candidates) take(candidate, candidate.now);
  left += kept_for_first;
  std::erase_if(candidates, [](const Candidate& c) { return c.now == c.later; });
  std::ranges::stable_sort(candidates, {}, &Candidate::lacks);
  if (kept_for_first) begin_with_first(candidates);
  for (const Candidate& candidate : candidates)
    if (const int taken = take(candidate, candidate.later - candidate.now); taken > 0)
      choice.lacking += candidate.lacks + taken - 1;
  if (left > 0) return {};
  return choice;
}

bool add_launcher(const Gang& gang, const Room& room, const Names& but,
                  std::map<const NodeRoom*, Resources>& kept) {
  const auto fits = [&](const NodeRoom& node) {
    Resources left = node.cleared;
    if (const auto found = kept.find(&node); found != kept.end()) left -= found->second;
    return left.times(gang.launcher) > 0;
  };
  const NodeRoom* host = nullptr;
  if (!gang.launcher_on.empty()) {
    for (const NodeRoom& node : room.usable())
      if (node.node->name == gang.launcher_on && !but.contains(gang.launcher_on))
        kept[&node] += gang.launcher;
    return true;  // no room is kept on a node that servers can't use
  }
  for (const NodeRoom& node : room.usable())
    if (!but.contains(node.node->name) && fits(node) &&
        (!host || (kept.contains(&node) && !kept.contains(host))))
      host = &node;
  if (host) kept[host] += gang.launcher;
  return host != nullptr;
}

}  // namespace

std::optional<Reservation> reserve(const Gang& gang, const Snapshot& snapshot, const Names& but) {
  const Room room(gang, snapshot);
  std::optional<Choice> best;
  Names claimed;
  for (auto& [domain, candidates] : candidates_by_domain(gang, room, but)) {
    for (const Candidate& candidate : candidates) claimed.insert(candidate.room->node->name);
    auto choice = choose(std::move(candidates), int(gang.servers.size()));
    if (choice && (!best || choice->lacking < best->lacking)) best = std::move(choice);
  }
  if (!best) return {};
  std::map<const NodeRoom*, Resources> kept;
  for (const auto& [node, servers] : best->servers) kept[node] += gang.server * servers;
  if (!add_launcher(gang, room, but, kept)) return {};
  Reservation reservation{gang.job, {}, {}, std::move(claimed)};
  for (const auto& [node, amounts] : kept) {  // sorted by name, as in the room
    PodState pod;
    pod.node = node->node->name;
    pod.job = gang.job;
    pod.requests = amounts;
    reservation.nodes.push_back(pod.node);
    reservation.claimed.insert(pod.node);
    reservation.room.push_back(std::move(pod));
  }
  return reservation;
}

std::string text_of(const Reservation& reservation) {
  return fmt::format("{} {}", listed(reservation.nodes), reservation.nodes.size() == 1 ? "is" : "are");
}

}  // namespace atl::ctl
