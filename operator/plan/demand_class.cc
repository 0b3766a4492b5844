// Classes of gangs that are alike. On the same cluster, all gangs of a class get the same answer, whichever
// jobs they belong to. So if one doesn't fit, none of its class does.
#include "operator/plan/demand_class.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace atl::ctl {
namespace {

/// Joins parts of a text, each with its length, so that different lists of parts make different texts.
class Text {
 public:
  void add(const std::string& part) { (all += std::to_string(part.size()) += ':') += part; }
  void add(std::int64_t number) { (all += std::to_string(number)) += ','; }
  void add(double number) { add(std::bit_cast<std::int64_t>(number)); }
  void add(const Resources& resources) {
    add(std::int64_t(resources.amounts().size()));
    for (const auto& [name, amount] : resources.amounts()) {
      add(name);
      add(amount);
    }
  }
  void add(const std::vector<LabelRule>& rules) {
    add(std::int64_t(rules.size()));
    for (const LabelRule& rule : rules) {
      add(rule.key);
      add(rule.comparison);
      add(std::int64_t(rule.of_name));
      add(std::int64_t(rule.values.size()));
      for (const std::string& value : rule.values) add(value);
    }
  }
  void add(const NodeTerms& terms) {
    add(std::int64_t(terms.size()));
    for (const auto& term : terms) add(term);
  }

  std::string all;
};

void add_filter(Text& text, const NodeFilter& filter) {
  text.add(filter.selector);
  text.add(filter.terms);
  text.add(std::int64_t(filter.tolerations.size()));
  for (const Toleration& toleration : filter.tolerations)
    for (const std::string* part :
         {&toleration.key, &toleration.comparison, &toleration.value, &toleration.effect})
      text.add(*part);
  text.add(std::int64_t(filter.excluded.size()));
  for (const std::string& node : filter.excluded) text.add(node);
  text.add(std::int64_t(filter.oldest_driver));
}

/// A digest by FNV-1a. The flows themselves would be too long: a dense job has thousands.
std::int64_t digest_of(const Traffic& traffic) {
  std::uint64_t digest = 0xcbf29ce484222325ULL;
  const auto mix = [&](std::uint64_t number) { digest = (digest ^ number) * 0x100000001b3ULL; };
  for (int server = 0; server < traffic.servers(); ++server)
    for (const auto& [peer, bytes] : traffic.peers(server)) {
      mix(std::uint64_t(server) << 32 | std::uint64_t(peer));
      mix(std::bit_cast<std::uint64_t>(bytes));
    }
  return std::int64_t(digest);
}

}  // namespace

std::string demand_class(const Gang& gang) {
  Text text;
  text.add(std::int64_t(gang.servers.size()));
  text.add(std::int64_t(gang.servers.empty() ? 0 : gang.servers[0].size()));
  text.add(std::int64_t(gang.has_first_server()));
  text.add(gang.server);
  text.add(gang.launcher);
  add_filter(text, gang.filter);
  for (const GangVolume& volume : gang.volumes) {
    text.add(volume.claim);
    text.add(std::int64_t(volume.mounters));
    text.add(volume.place.terms);
    text.add(volume.place.problem);
    text.add(std::int64_t(volume.place.is_of_one_pod));
  }
  for (const std::string& level : gang.levels) text.add(level);
  for (const double weight : gang.weights) text.add(weight);
  text.add(std::int64_t(gang.within));
  text.add(gang.assigned ? std::int64_t(gang.assigned->size()) : std::int64_t(-1));
  for (const auto& [node, servers] : gang.assigned.value_or(std::map<std::string, int>())) {
    text.add(node);
    text.add(std::int64_t(servers));
  }
  text.add(gang.launcher_on);
  text.add(digest_of(gang.traffic));
  return std::move(text.all);
}

ClassRoom::ClassRoom(Gang gang, const Snapshot& snapshot) : gang_(std::move(gang)) {
  nodes_.resize(snapshot.nodes.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) count(snapshot, n);
}

void ClassRoom::count(const Snapshot& snapshot, std::size_t node) {
  const Node now = look_at(snapshot.nodes[node], snapshot.left[node]);
  sums_.add(nodes_[node], -1);
  sums_.add(now, 1);
  nodes_[node] = now;
}

void ClassRoom::move(const std::vector<int>& from) {
  std::vector<Node> moved(from.size());
  for (std::size_t n = 0; n < from.size(); ++n)
    if (from[n] >= 0) moved[n] = std::exchange(nodes_[std::size_t(from[n])], {});
  for (const Node& gone : nodes_) sums_.add(gone, -1);
  nodes_ = std::move(moved);
}

bool ClassRoom::could_ever() const {
  return std::ranges::any_of(sums_.domains,
                             [&](const Domain& domain) { return domain.empty >= std::ssize(gang_.servers); });
}

ClassRoom::Fit ClassRoom::could_fit(const Snapshot& snapshot, const std::vector<PodState>& kept) const {
  const auto servers = std::max<std::int64_t>(std::ssize(gang_.servers), 1);
  const auto holds_servers = [&](const Domain& domain) { return domain.now >= servers; };
  if (std::ranges::none_of(sums_.domains, holds_servers)) return {};
  Sums now = sums_;
  for (const PodState& pod : kept) {
    const auto at = std::ranges::lower_bound(snapshot.nodes, pod.where(), {}, &NodeState::name);
    if (at == snapshot.nodes.end() || at->name != pod.where()) continue;
    const auto n = std::size_t(at - snapshot.nodes.begin());
    Node beside = nodes_[n];
    fill(beside, *at, Resources(snapshot.left[n].free) -= pod.requests);
    now.add(nodes_[n], -1);
    now.add(beside, 1);
  }
  Fit fit;
  for (const Domain& domain : now.domains) {
    const bool is_any_outside = now.beside > 0 || now.costly > domain.costly;
    if (is_any_outside || now.costly > 0)
      fit.gangs += std::max<std::int64_t>(domain.now - !is_any_outside, 0) / servers;
  }
  fit.lacks_launcher = fit.gangs == 0 && std::ranges::any_of(now.domains, holds_servers);
  return fit;
}

bool ClassRoom::may_use_any(const Snapshot& snapshot, const std::vector<std::string>& nodes) const {
  return std::ranges::any_of(nodes, [&](const std::string& name) {
    const auto at = std::ranges::lower_bound(snapshot.nodes, name, {}, &NodeState::name);
    if (at == snapshot.nodes.end() || at->name != name) return false;
    const Node& node = nodes_[std::size_t(at - snapshot.nodes.begin())];
    return node.domain >= 0 || node.launcher != Launcher::kNever;
  });
}

ClassRoom::Node ClassRoom::look_at(const NodeState& state, const NodeLeft& left) {
  Node node;
  const bool is_usable =
      gang_.most_on(state.name) > 0 && gang_.filter.refusal(state).empty() && reaches_volumes(state, false);
  if (is_usable && reaches_volumes(state, true)) {
    node.domain = domain_of(state);
    node.empty = slots(state, left.empty);
  }
  if (gang_.launcher_on.empty() ? is_usable : state.name == gang_.launcher_on)
    node.launcher = Launcher::kNone;
  fill(node, state, left.free);
  return node;
}

void ClassRoom::fill(Node& node, const NodeState& state, const Resources& free) const {
  if (node.domain >= 0) node.now = slots(state, free);
  if (node.launcher == Launcher::kNever) return;
  node.launcher = Launcher::kNone;
  if (free.times(gang_.launcher) == 0) return;
  const bool costs = node.now > 0 && slots(state, Resources(free) -= gang_.launcher) < node.now;
  node.launcher = costs ? Launcher::kCosts : Launcher::kBeside;
}

/// Whether the node can use the volumes that all pods mount or, with `of_servers`, those that all servers
/// mount.
bool ClassRoom::reaches_volumes(const NodeState& node, bool of_servers) const {
  const Mounters mounters = of_servers ? Mounters::kServers : Mounters::kAll;
  return std::ranges::all_of(gang_.volumes, [&](const GangVolume& volume) {
    return volume.mounters != mounters || volume.place.reaches(node);
  });
}

std::int32_t ClassRoom::domain_of(const NodeState& node) {
  std::string name;
  for (int level = 0; level <= gang_.within; ++level) {
    const bool is_node = std::size_t(level) + 1 == gang_.levels.size();
    const auto label = is_node ? node.labels.end() : node.labels.find(gang_.levels[std::size_t(level)]);
    name += (is_node ? node.name : label == node.labels.end() ? "" : label->second) + '\0';
  }
  const auto [found, is_new] = domains_.try_emplace(name, std::int32_t(domains_.size()));
  if (is_new) sums_.domains.emplace_back();
  return found->second;
}

std::uint16_t ClassRoom::slots(const NodeState& node, const Resources& free) const {
  constexpr int kMost = std::numeric_limits<std::uint16_t>::max();
  return std::uint16_t(std::min({free.times(gang_.server), gang_.most_on(node.name), kMost}));
}

void ClassRoom::Sums::add(const Node& node, int sign) {
  const bool is_costly = node.launcher == Launcher::kCosts;
  if (is_costly) costly += sign;
  if (node.launcher == Launcher::kBeside) beside += sign;
  if (node.domain < 0) return;
  Domain& domain = domains[std::size_t(node.domain)];
  domain.now += sign * node.now;
  domain.empty += sign * node.empty;
  if (is_costly) domain.costly += sign;
}

}  // namespace atl::ctl
