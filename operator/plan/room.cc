#include "operator/plan/room.h"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace atl::ctl {
namespace {

const char* name_of(Mounters mounters) {
  switch (mounters) {
    case Mounters::kAll:
      return "no pod";
    case Mounters::kServers:
      return "no server";
    case Mounters::kFirstServer:
      return "server 0 not";
  }
  return "";
}

}  // namespace

Room::Room(const Gang& gang, const Snapshot& snapshot) : gang_(gang), far_(gang.volumes.size()) {
  take_pods(snapshot);
  std::vector<std::size_t> by_name(snapshot.nodes.size());
  std::iota(by_name.begin(), by_name.end(), 0);
  const auto name = [&](std::size_t node) -> const std::string& { return snapshot.nodes[node].name; };
  if (!std::ranges::is_sorted(by_name, {}, name)) std::ranges::sort(by_name, {}, name);
  usable_.reserve(by_name.size());
  std::set<std::string> missing;
  if (gang.assigned)
    for (const auto& [node, servers] : *gang.assigned) missing.insert(node);
  for (const std::size_t node : by_name) {
    missing.erase(snapshot.nodes[node].name);
    if (snapshot.nodes[node].name == gang.launcher_on) launcher_left_ = left(snapshot, node).free;
    if (gang.most_on(snapshot.nodes[node].name) > 0) add(snapshot.nodes[node], left(snapshot, node));
  }
  for (const std::string& node : missing) refusals_.push_back(node + " does not exist");
  find_domains();
}

void Room::take_pods(const Snapshot& snapshot) {
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t n = 0; n < snapshot.nodes.size() && !snapshot.pods.empty(); ++n)
    index[snapshot.nodes[n].name] = n;
  for (const PodState& pod : snapshot.pods) {
    const auto found = index.find(pod.where());
    const bool is_own = !gang_.job.empty() && pod.job == gang_.job;
    if (pod.finished || pod.gives_way || found == index.end() || is_own) continue;
    NodeLeft& changed = changed_.try_emplace(found->second, left(snapshot, found->second)).first->second;
    changed.free -= pod.requests;
    if (pod.of_daemon_set) changed.empty -= pod.requests;
    if (pod.job.empty()) changed.cleared -= pod.requests;
  }
}

const NodeLeft& Room::left(const Snapshot& snapshot, std::size_t node) {
  if (const auto changed = changed_.find(node); changed != changed_.end()) return changed->second;
  if (!snapshot.left.empty()) return snapshot.left[node];
  const Resources& all = snapshot.nodes[node].allocatable;
  return changed_.emplace(node, NodeLeft{all, all, all}).first->second;
}

void Room::add(const NodeState& node, const NodeLeft& left) {
  if (auto refusal = gang_.filter.refusal(node); !refusal.empty()) {
    refusals_.push_back(node.name + " " + refusal);
    return;
  }
  NodeRoom room{.node = &node, .free = left.free, .cleared = left.cleared, .empty = left.empty};
  for (std::size_t v = 0; v < gang_.volumes.size(); ++v) {
    const GangVolume& volume = gang_.volumes[v];
    if (volume.place.reaches(node)) continue;
    far_[v].push_back(node.name);
    if (volume.mounters == Mounters::kAll) return;
    if (volume.mounters == Mounters::kServers) room.takes_servers = false;
    if (volume.mounters == Mounters::kFirstServer) room.takes_first = !gang_.has_first_server();
  }
  usable_.push_back(room);
}

std::vector<std::string> Room::far_volumes() const {
  std::vector<std::string> sentences;
  for (std::size_t v = 0; v < far_.size(); ++v) {
    const GangVolume& volume = gang_.volumes[v];
    if (far_[v].empty()) continue;
    sentences.push_back(
        fmt::format("{}: {} on {}", text_of(volume), name_of(volume.mounters), listed(far_[v])));
  }
  return sentences;
}

int Room::slots(const NodeRoom& room, const Resources& free) const {
  return room.takes_servers ? std::min(free.times(gang_.server), gang_.most_on(room.node->name)) : 0;
}

Site Room::site(const NodeRoom& room, const Resources& free) const {
  return {room.node->name, room.domains, slots(room, free), room.takes_first};
}

std::vector<Site> Room::sites(bool empty) const {
  std::vector<Site> sites;
  sites.reserve(usable_.size());
  for (const NodeRoom& room : usable_) sites.push_back(site(room, empty ? room.empty : room.free));
  return sites;
}

/// A cluster of thousands of nodes has few labels. Each is one text and a number for all nodes that have it,
/// for comparing thousands of texts would take longer than the rest of a plan.
void Room::find_domains() {
  const std::size_t depth = levels_above_nodes();
  domains_.resize(usable_.size() * depth);
  ranks_.resize(domains_.size());
  for (std::size_t level = 0; level < depth; ++level) {
    std::unordered_map<std::string_view, int> numbers;  // in the order in which labels are met
    for (std::size_t i = level, n = 0; n < usable_.size(); ++n, i += depth) {
      const auto& labels = usable_[n].node->labels;
      const auto found = labels.find(gang_.levels[level]);
      const std::string_view own = found == labels.end() ? std::string_view() : found->second;
      std::tie(domains_[i], ranks_[i]) = *numbers.try_emplace(own, int(numbers.size())).first;
    }
    std::vector<std::pair<std::string_view, int>> sorted(numbers.begin(), numbers.end());
    std::ranges::sort(sorted);
    std::vector<int> rank(sorted.size());
    for (std::size_t n = 0; n < sorted.size(); ++n) rank[std::size_t(sorted[n].second)] = int(n);
    for (std::size_t i = level; i < ranks_.size(); i += depth) ranks_[i] = rank[std::size_t(ranks_[i])];
  }
  for (std::size_t n = 0; n < usable_.size(); ++n)
    usable_[n].domains = std::span(domains_).subspan(n * depth, depth);
}

std::vector<std::size_t> Room::by_domains() const {
  const std::size_t depth = levels_above_nodes();
  std::vector<std::size_t> nodes(usable_.size());
  std::iota(nodes.begin(), nodes.end(), 0);  // by name
  const auto ranks = [&](std::size_t node) { return std::span(ranks_).subspan(node * depth, depth); };
  std::ranges::stable_sort(nodes, [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(ranks(a), ranks(b));
  });
  return nodes;
}

std::vector<Site> Room::sites(const std::vector<std::size_t>& order, bool empty) const {
  std::vector<Site> sites;
  sites.reserve(order.size());
  for (const std::size_t i : order) {
    const Site each = site(usable_[i], empty ? usable_[i].empty : usable_[i].free);
    if (each.slots > 0) sites.push_back(each);
  }
  return sites;
}

}  // namespace atl::ctl
