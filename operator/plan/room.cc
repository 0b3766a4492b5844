#include "operator/plan/room.h"

#include <algorithm>
#include <unordered_map>

namespace atl::ctl {

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

Site Room::site(const NodeRoom& room, const Resources& free) const {
  Site site{room.node->name, {}, free.times(gang_.server)};
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
