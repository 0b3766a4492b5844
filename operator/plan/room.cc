#include "operator/plan/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "operator/plan/obstacles.h"

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

Room::Room(const Gang& gang, const Snapshot& snapshot) : gang_(gang) {
  std::unordered_map<std::string, std::size_t> index;
  for (const NodeState& node : snapshot.nodes) {
    if (auto refusal = gang.filter.refusal(node); !refusal.empty()) {
      refusals_.push_back(node.name + " " + refusal);
      continue;
    }
    usable_.push_back({&node, node.allocatable, node.allocatable, node.allocatable});
  }
  std::ranges::sort(usable_, {}, [](const NodeRoom& room) { return room.node->name; });
  for (const GangVolume& volume : gang.volumes) heed(volume);
  for (std::size_t i = 0; i < usable_.size(); ++i) index[usable_[i].node->name] = i;
  for (const PodState& pod : snapshot.pods) {
    const auto found = index.find(pod.where());
    if (pod.finished || found == index.end() || (!gang.job.empty() && pod.job == gang.job)) continue;
    NodeRoom& room = usable_[found->second];
    room.free -= pod.requests;
    if (pod.of_daemon_set) room.empty -= pod.requests;
    if (pod.job.empty()) room.cleared -= pod.requests;
  }
}

void Room::heed(const GangVolume& volume) {
  std::vector<std::string> nodes;
  std::erase_if(usable_, [&](NodeRoom& room) {
    if (volume.place.reaches(*room.node)) return false;
    nodes.push_back(room.node->name);
    if (volume.mounters == Mounters::kServers) room.takes_servers = false;
    if (volume.mounters == Mounters::kFirstServer) room.takes_first = !gang_.has_first_server();
    return volume.mounters == Mounters::kAll;
  });
  if (!nodes.empty()) far_.emplace_back(&volume, std::move(nodes));
}

std::vector<std::string> Room::far_volumes() const {
  std::vector<std::string> sentences;
  for (const auto& [volume, nodes] : far_)
    sentences.push_back(
        fmt::format("{}: {} on {}", text_of(*volume), name_of(volume->mounters), listed(nodes)));
  return sentences;
}

Site Room::site(const NodeRoom& room, const Resources& free) const {
  Site site{room.node->name, {}, room.takes_servers ? free.times(gang_.server) : 0, room.takes_first};
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

}  // namespace atl::ctl
