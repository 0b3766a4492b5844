// A cluster's room for the pods of one gang: what each usable node has left beside all pods that run there or
// are pinned there by us.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "operator/plan/gang.h"

namespace atl::ctl {

/// One node's room. The members refer to a snapshot or into a Room. The gang's own pods take no room.
struct NodeRoom {
  const NodeState* node;
  const Resources &free, &cleared, &empty;  // NodeLeft's
  // whether the node can reach the volumes of servers and of server 0; the launcher doesn't mount them
  bool takes_servers = true, takes_first = true;
  std::span<const std::string_view> domains;  // as in Site
};

class Room {
 public:
  /// Both arguments must outlive it.
  Room(const Gang& gang, const Snapshot& snapshot);
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  const std::vector<NodeRoom>& usable() const { return usable_; }         // by name; assigned ones alone
  const std::vector<std::string>& refusals() const { return refusals_; }  // "n1 is cordoned"
  /// Whether the launcher fits on its required node (Gang::launcher_on), if no server is there.
  bool has_room_for_launcher() const { return launcher_left_.times(gang_.launcher) > 0; }
  /// One sentence for each volume that some node can't reach.
  std::vector<std::string> far_volumes() const;
  /// Sites of the gang's servers, by present room or, with `empty`, by the room of empty nodes.
  std::vector<Site> sites(bool empty) const;
  /// Indices in usable(), in the order of a Topology's sites, so that it needn't sort names.
  std::vector<std::size_t> by_domains() const;
  /// The same for the sites that have slots, in the given order.
  std::vector<Site> sites(const std::vector<std::size_t>& order, bool empty) const;
  /// The site of one of the usable nodes.
  Site site(const NodeRoom& room, const Resources& free) const;

 private:
  void take_pods(const Snapshot& snapshot);
  int slots(const NodeRoom& room, const Resources& free) const;
  const NodeLeft& left(const Snapshot& snapshot, std::size_t node);
  void add(const NodeState& node, const NodeLeft& left);
  void find_domains();
  std::size_t levels_above_nodes() const { return gang_.levels.empty() ? 0 : gang_.levels.size() - 1; }

  const Gang& gang_;
  std::unordered_map<std::size_t, NodeLeft> changed_;  // by node: what differs from the snapshot's `left`
  Resources launcher_left_;                            // what is left on Gang::launcher_on
  std::vector<NodeRoom> usable_;
  std::vector<std::string_view> domains_;  // (usable, levels above the node's): one text for all nodes of one
  std::vector<int> ranks_;                 // of domains_, each among its level's
  std::vector<std::string> refusals_;
  std::vector<std::vector<std::string>> far_;  // by volume: nodes that can't reach it
};

// Obstacles to a gang. Each is a sentence that names nodes and says what would help.

/// Why there are no places for all: what the gang needs, what each domain has, which nodes would have to be
/// freed, and which nodes are left out and why.
std::vector<std::string> obstacles(const Gang& gang, const Room& room);

/// Why a placement costs more than the best possible one: which nodes of the best one have no room.
std::vector<std::string> detours(const Gang& gang, const Room& room, const std::vector<std::string>& nodes,
                                 const std::vector<std::string>& ideal);

/// "a, b and 3 more"
std::string listed(const std::vector<std::string>& all);

/// "zone" of topology.kubernetes.io/zone; "node" of kubernetes.io/hostname.
std::string level_name(const std::string& label);

/// "4 servers of 2 ranks (8 cpu, 32.0 GiB memory each)"
std::string demand_text(const Gang& gang);

}  // namespace atl::ctl
