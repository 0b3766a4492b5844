#include "operator/plan/gang.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "operator/plan/room.h"

namespace atl::ctl {
namespace {

constexpr int kMostLauncherNodes = 16;  // tried if the launcher has to take a server's place

struct Answer {
  Placement placement;
  std::string launcher;
};

/// Whether the launcher fits on a node beside the servers placed there.
bool launcher_fits(const NodeRoom& room, const Gang& gang, const std::vector<std::string>& nodes) {
  const auto servers = std::ranges::count(nodes, room.node->name);
  Resources left = room.free;
  left -= gang.server * servers;
  return left.times(gang.launcher) > 0;
}

/// A node for the launcher. Server 0's node is preferred, then another server's, then any node; "" if none
/// has room.
std::string launcher_beside(const Room& room, const Gang& gang, const std::vector<std::string>& nodes) {
  const std::set<std::string> used(nodes.begin(), nodes.end());
  std::string best;
  int best_rank = 3;
  for (const NodeRoom& r : room.usable()) {
    const int rank = r.node->name == nodes[0] ? 0 : used.contains(r.node->name) ? 1 : 2;
    if (rank < best_rank && launcher_fits(r, gang, nodes)) {
      best = r.node->name;
      best_rank = rank;
    }
  }
  return best;
}

/// The cheapest placement that leaves room for the launcher on some node. The search ends early at a
/// placement that costs no more than `enough`, the cost of the servers alone. All nodes that are tried share
/// the looks of one search.
std::optional<Answer> place_around_launcher(const Room& room, const Gang& gang, double enough) {
  std::optional<Answer> best;
  int tried = 0;
  for (std::size_t i = 0; i < room.usable().size() && tried < kMostLauncherNodes; ++i) {
    const NodeRoom& host = room.usable()[i];
    if (host.free.times(gang.launcher) == 0) continue;
    ++tried;
    Resources left = host.free;
    left -= gang.launcher;
    auto sites = room.sites(false);
    sites[i] = room.site(host, left);
    auto placement =
        place(Topology(std::move(sites), gang.weights), gang.traffic, gang.within, 1.0 / kMostLauncherNodes);
    if (placement && (!best || placement->cost < best->placement.cost))
      best = Answer{std::move(*placement), host.node->name};
    if (best && best->placement.cost <= enough * (1 + 1e-9)) break;
  }
  return best;
}

/// The cheapest placement if the launcher is on its required node.
std::optional<Answer> place_beside_launcher(const Room& room, const Gang& gang) {
  if (!room.has_room_for_launcher()) return {};
  auto sites = room.sites(false);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (sites[i].node != gang.launcher_on) continue;
    Resources left = room.usable()[i].free;
    left -= gang.launcher;
    sites[i] = room.site(room.usable()[i], left);
  }
  auto placement = place(Topology(std::move(sites), gang.weights), gang.traffic, gang.within);
  if (!placement) return {};
  return Answer{std::move(*placement), gang.launcher_on};
}

std::optional<Answer> place_all(const Room& room, const Topology& topology, const Gang& gang) {
  if (!gang.launcher_on.empty()) return place_beside_launcher(room, gang);
  auto placement = place(topology, gang.traffic, gang.within);
  if (!placement) return {};
  auto launcher = launcher_beside(room, gang, placement->nodes);
  if (!launcher.empty()) return Answer{std::move(*placement), std::move(launcher)};
  return place_around_launcher(room, gang, placement->cost);
}

/// Whether the rule names nodes that exist. A new node can't satisfy it, because it has another name.
bool names_nodes(const LabelRule& rule) {
  return rule.comparison == "In" && (rule.of_name || rule.key == kHostnameLabel);
}

/// Whether only nodes that exist can satisfy the terms.
bool needs_named_nodes(const NodeTerms& terms) {
  return !terms.empty() &&
         std::ranges::all_of(terms, [](const auto& term) { return std::ranges::any_of(term, names_nodes); });
}

/// Whether a node that can reach server 0's own volumes has room for a server now.
bool has_room_for_first(const Room& room) {
  return std::ranges::any_of(room.sites(false),
                             [](const Site& site) { return site.slots > 0 && site.takes_first; });
}

bool would_new_nodes_help(const Gang& gang, const Room& room) {
  const bool is_first_placed = !gang.has_first_server() || has_room_for_first(room);
  return !gang.assigned && !needs_named_nodes(gang.filter.terms) &&
         std::ranges::none_of(gang.filter.selector, names_nodes) &&
         std::ranges::none_of(gang.volumes, [&](const GangVolume& volume) {
           const bool is_placed = volume.mounters == Mounters::kFirstServer && is_first_placed;
           return !is_placed && needs_named_nodes(volume.place.terms);
         });
}

std::vector<LabelRule> domain_rules(const Gang& gang, const std::vector<std::string>& domain) {
  std::vector<LabelRule> rules;
  for (std::size_t level = 0; level < domain.size(); ++level) {
    LabelRule rule{gang.levels[level], domain[level].empty() ? "DoesNotExist" : "In", {}, false};
    if (!domain[level].empty()) rule.values.push_back(domain[level]);
    rules.push_back(std::move(rule));
  }
  return rules;
}

/// Computes GangPlan::domains. It is empty if each domain is one node, because any new node is then a domain
/// of its own.
NodeTerms domains_of(const Gang& gang, const Room& room) {
  const std::size_t depth = std::size_t(gang.within) + 1;
  if (gang.within < 0 || depth == gang.levels.size()) return {};
  std::set<std::vector<std::string>> found;
  for (const NodeRoom& node : room.usable()) {
    const auto names = node.domains.first(depth);
    std::vector<std::string> domain(names.begin(), names.end());
    if (node.takes_servers && node.takes_first) found.insert(std::move(domain));
  }
  NodeTerms domains;
  std::set<std::string> known;
  for (const auto& domain : found) {
    domains.push_back(domain_rules(gang, domain));
    if (!domain.back().empty()) known.insert(domain.back());
  }
  const bool is_bound =
      std::ranges::any_of(gang.volumes, [](const GangVolume& volume) { return !volume.place.terms.empty(); });
  if (is_bound || known.empty()) return domains;
  const std::string& key = gang.levels[depth - 1];
  const LabelRule is_another{key, "NotIn", {known.begin(), known.end()}, false};
  const LabelRule is_labelled{key, "Exists", {}, false};
  domains.push_back({is_another, is_labelled});
  return domains;
}

std::vector<double> bytes_by_level(const Gang& gang, const Topology& topology,
                                   const std::vector<std::string>& nodes) {
  std::map<std::string_view, int> site_of;
  for (const std::string& node : nodes) site_of[node] = -1;
  for (std::size_t s = 0; s < topology.sites().size(); ++s)
    if (const auto at = site_of.find(topology.sites()[s].node); at != site_of.end()) at->second = int(s);
  std::vector<double> bytes(gang.levels.size(), 0);
  for (int a = 0; a < gang.traffic.servers(); ++a) {
    for (const auto& [b, amount] : gang.traffic.peers(a)) {
      const int here = site_of.at(nodes[std::size_t(a)]), there = site_of.at(nodes[std::size_t(b)]);
      for (int level = 0; level < topology.levels() && a < b; ++level) {
        if (topology.domain_of(here, level) == topology.domain_of(there, level)) continue;
        bytes[std::size_t(level)] += amount;
        break;
      }
    }
  }
  return bytes;
}

/// Computes GangPlan::unlabelled.
std::vector<std::string> unlabelled_levels(const Gang& gang, const Snapshot& snapshot) {
  std::vector<std::string> labels;
  for (std::size_t level = 0; level + 1 < gang.levels.size(); ++level) {
    const std::string& label = gang.levels[level];
    const auto has_it = [&](const NodeState& node) { return node.labels.contains(label); };
    if (std::ranges::none_of(snapshot.nodes, has_it)) labels.push_back(label);
  }
  return labels;
}

}  // namespace

GangPlan plan_gang(const Gang& gang, const Snapshot& snapshot) {
  GangPlan plan;
  for (const GangVolume& volume : gang.volumes)
    if (auto why = fault_of(volume, gang.servers.size()); !why.empty()) plan.reasons.push_back(why);
  if (!plan.reasons.empty()) return plan;
  const Room room(gang, snapshot);
  const std::vector<std::size_t> order = room.by_domains();
  const Topology topology(room.sites(order, false), gang.weights);
  auto answer = place_all(room, topology, gang);
  if (!answer) {
    plan.reasons = obstacles(gang, room);
    plan.would_nodes_help = would_new_nodes_help(gang, room);
    plan.domains = domains_of(gang, room);
    for (const GangVolume& volume : gang.volumes) {
      const bool is_of_all = volume.mounters != Mounters::kFirstServer;
      if (volume.place.terms.empty() || !(is_of_all || gang.has_first_server())) continue;
      (is_of_all ? plan.reach : plan.first_reach).push_back(volume.place.terms);
    }
    return plan;
  }
  const auto ideal = place(Topology(room.sites(order, true), gang.weights), gang.traffic, gang.within);
  plan.fits = true;
  plan.nodes = std::move(answer->placement.nodes);
  plan.launcher = std::move(answer->launcher);
  plan.cost = answer->placement.cost;
  plan.in_order_cost = answer->placement.in_order_cost;
  // The search may find a better answer in less room than in more. Such an answer is possible in more room
  // too.
  plan.best_possible = ideal ? std::min(ideal->cost, plan.cost) : plan.cost;
  plan.level_bytes = bytes_by_level(gang, topology, plan.nodes);
  plan.unlabelled = unlabelled_levels(gang, snapshot);
  if (plan.cost > plan.best_possible * (1 + 1e-9))
    plan.reasons = detours(gang, room, plan.nodes, ideal->nodes);
  return plan;
}

}  // namespace atl::ctl
