#include "operator/plan/room.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

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
  NodeRoom room{&node, left.free, left.cleared, left.empty};
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

Site Room::site(const NodeRoom& room, const Resources& free) const {
  const int slots = std::min(free.times(gang_.server), gang_.most_on(room.node->name));
  Site site{room.node->name, {}, room.takes_servers ? slots : 0, room.takes_first};
  for (std::size_t level = 0; level + 1 < gang_.levels.size(); ++level) {
    const auto label = room.node->labels.find(gang_.levels[level]);
    site.domains.push_back(label == room.node->labels.end() ? "" : label->second);
  }
  return site;
}

std::vector<Site> Room::sites(bool empty) const {
  std::vector<Site> sites;
  for (const NodeRoom& room : usable_) sites.push_back(site(room, empty ? room.empty : room.free));
  return sites;
}

namespace {

constexpr std::size_t kMostNamed = 5;  // nodes or domains in a sentence

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// A domain of the level that must hold all servers, or the whole cluster.
struct Holder {
  std::string name;
  int slots = 0;  // at present
  bool takes_first = false;
  std::vector<std::pair<int, std::string>> gains;  // more slots if this node were freed, most first
  int emptied() const {
    int all = slots;
    for (const auto& gain : gains) all += gain.first;
    return all;
  }
  /// The nodes to free so that so many servers fit; empty where that isn't enough.
  std::vector<std::string> to_free(int servers) const {
    std::vector<std::string> nodes;
    int have = slots;
    for (const auto& [gain, node] : gains) {
      if (have >= servers) break;
      have += gain;
      nodes.push_back(node);
    }
    return have >= servers ? nodes : std::vector<std::string>();
  }
};

std::vector<Holder> holders(const Gang& gang, const Room& room) {
  std::map<std::string, Holder> by_name;
  const auto now = room.sites(false), empty = room.sites(true);
  for (std::size_t i = 0; i < now.size(); ++i) {
    std::string name;
    for (int level = 0; level <= gang.within; ++level)
      name += (level ? "/" : "") + (now[i].domain_at(level).empty() ? "(no label)" : now[i].domain_at(level));
    Holder& holder = by_name[name];
    holder.name = name;
    holder.slots += now[i].slots;
    holder.takes_first |= now[i].slots > 0 && now[i].takes_first;
    const int gain = empty[i].slots - now[i].slots;
    if (gain > 0) holder.gains.emplace_back(gain, now[i].node);
  }
  std::vector<Holder> all;
  for (auto& [name, holder] : by_name) {
    std::ranges::stable_sort(holder.gains, std::greater(), [](const auto& gain) { return gain.first; });
    all.push_back(std::move(holder));
  }
  std::ranges::stable_sort(all, std::greater(), &Holder::slots);
  return all;
}

std::string what_there_is(const Gang& gang, const std::vector<Holder>& all) {
  const bool is_assigned = gang.assigned.has_value();
  if (all.empty()) return is_assigned ? "no node that its queue assigned may be used" : "no node may be used";
  if (gang.within < 0)
    return fmt::format("{} room for {}",
                       is_assigned ? "the nodes that its queue assigned have" : "the cluster has",
                       all[0].slots);
  std::vector<std::string> rooms;
  for (const Holder& holder : all)
    rooms.push_back(fmt::format("{} has room for {}", holder.name, holder.slots));
  return listed(rooms);
}

std::string what_would_do(const Gang& gang, int servers, const std::vector<Holder>& all) {
  const std::vector<std::string>* best = nullptr;
  std::vector<std::vector<std::string>> ways;
  for (const Holder& holder : all) ways.push_back(holder.to_free(servers));
  for (const auto& way : ways)
    if (!way.empty() && (!best || way.size() < best->size())) best = &way;
  if (best)
    return fmt::format("; freeing {} would do", best->size() <= kMostNamed
                                                    ? fmt::format("{}", fmt::join(*best, " and "))
                                                    : listed(*best));
  if (gang.assigned)
    return "; its queue has to assign others, as it does where a node is gone, not ready or cordoned";
  int most = 0;
  for (const Holder& holder : all) most = std::max(most, holder.emptied());
  return fmt::format(
      "; even an empty cluster has room for at most {}: the job can't start without more nodes", most);
}

}  // namespace

std::string listed(const std::vector<std::string>& all) {
  if (all.size() <= kMostNamed) return fmt::format("{}", fmt::join(all, ", "));
  return fmt::format("{} and {} more", fmt::join(all.begin(), all.begin() + kMostNamed, ", "),
                     all.size() - kMostNamed);
}

std::string level_name(const std::string& label) {
  const std::string name = label.substr(label.rfind('/') + 1);
  return name == "hostname" ? "node" : name;
}

std::string demand_text(const Gang& gang) {
  const std::size_t ranks = gang.servers.empty() ? 0 : gang.servers[0].size();
  return fmt::format("{} of {} ({}{})", plural(gang.servers.size(), "server"), plural(ranks, "rank"),
                     gang.server.text(), gang.servers.size() == 1 ? "" : " each");
}

std::vector<std::string> obstacles(const Gang& gang, const Room& room) {
  const auto all = holders(gang, room);
  const int servers = int(gang.servers.size());
  std::string need = "needs " + demand_text(gang);
  if (gang.within >= 0) need += " inside one " + level_name(gang.levels[std::size_t(gang.within)]);
  std::vector<std::string> sentences;
  bool servers_fit = false, first_fits = false;
  for (const Holder& holder : all) {
    servers_fit |= holder.slots >= servers;
    first_fits |= holder.slots >= servers && holder.takes_first;
  }
  if (servers_fit && !first_fits)
    sentences.push_back(need + "; there is room for them, but not for server 0 where its volume is");
  else if (servers_fit)
    sentences.push_back(fmt::format("{}, and a launcher ({}{}); there is room only for the servers", need,
                                    gang.launcher.text(),
                                    gang.launcher_on.empty() ? "" : " on " + gang.launcher_on));
  else
    sentences.push_back(
        fmt::format("{}; {}{}", need, what_there_is(gang, all), what_would_do(gang, servers, all)));
  if (!room.refusals().empty()) sentences.push_back("not considered: " + listed(room.refusals()));
  std::ranges::move(room.far_volumes(), std::back_inserter(sentences));
  return sentences;
}

std::vector<std::string> detours(const Gang& gang, const Room& room, const std::vector<std::string>& nodes,
                                 const std::vector<std::string>& ideal) {
  std::map<std::string, int> wanted;
  for (const auto& node : ideal) ++wanted[node];
  for (const auto& node : nodes) --wanted[node];
  std::vector<std::string> taken;
  for (const NodeRoom& r : room.usable()) {
    const int free = r.free.times(gang.server), empty = r.empty.times(gang.server);
    if (wanted[r.node->name] > 0 && free < empty)
      taken.push_back(fmt::format("{} has room for {} of {}", r.node->name, free, empty));
  }
  if (taken.empty()) return {"nodes are taken by other pods"};
  return {"nodes that would cost less are taken by other pods: " + listed(taken)};
}

}  // namespace atl::ctl
