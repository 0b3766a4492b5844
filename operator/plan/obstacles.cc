// Explains what is in a gang's way: why there are no places for all of it, or why its places cost more than
// the best possible.
#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>

#include "base/text.h"
#include "operator/plan/room.h"

namespace atl::ctl {
namespace {

constexpr std::size_t kMostNamed = 5;  // nodes or domains in a sentence

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// A domain that may hold all servers, or the whole cluster.
struct Holder {
  std::string name;
  int slots = 0;  // at present
  bool takes_first = false;
  std::vector<std::pair<int, std::string>> gains;  // slots gained by freeing a node, most first
  int emptied() const {
    int all = slots;
    for (const auto& gain : gains) all += gain.first;
    return all;
  }
  /// The nodes to free so that this many servers fit; empty if freeing nodes isn't enough.
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
    for (int level = 0; level <= gang.within; ++level) {
      const std::string_view domain = now[i].domain_at(level);
      name += level ? "/" : "";
      name += domain.empty() ? "(no label)" : domain;
    }
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
    return fmt::format("; freeing {} would do",
                       best->size() <= kMostNamed ? joined(*best, " and ") : listed(*best));
  if (gang.assigned)
    return "; its queue has to assign others, as it does where a node is gone, not ready or cordoned";
  int most = 0;
  for (const Holder& holder : all) most = std::max(most, holder.emptied());
  return fmt::format(
      "; even an empty cluster has room for at most {}: the job can't start without more nodes", most);
}

}  // namespace

std::string listed(const std::vector<std::string>& all) {
  if (all.size() <= kMostNamed) return joined(all, ", ");
  return fmt::format("{} and {} more", joined(std::span(all).first(kMostNamed), ", "),
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
    if (const auto found = wanted.find(r.node->name); found == wanted.end() || found->second <= 0) continue;
    const int free = r.free.times(gang.server), empty = r.empty.times(gang.server);
    if (free < empty) taken.push_back(fmt::format("{} has room for {} of {}", r.node->name, free, empty));
  }
  if (taken.empty()) return {"nodes are taken by other pods"};
  return {"nodes that would cost less are taken by other pods: " + listed(taken)};
}

}  // namespace atl::ctl
