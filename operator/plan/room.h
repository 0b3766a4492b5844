// Room in a cluster for the pods of one gang: what each usable node has left once every pod that stands
// there, or that we have pinned there, is counted.
#pragma once

#include <string>
#include <vector>

#include "operator/plan/gang.h"

namespace atl::ctl {

struct NodeRoom {
  const NodeState* node = nullptr;
  Resources free;     // less all pods but the gang's own
  Resources cleared;  // less those that are no job's: what there is once all jobs have ended
  Resources empty;    // less those of daemon sets alone
  // whether the volumes of servers, and of server 0, can be reached from it; the launcher may run on any node
  bool takes_servers = true, takes_first = true;
};

class Room {
 public:
  /// Both must outlive it.
  Room(const Gang& gang, const Snapshot& snapshot);

  const std::vector<NodeRoom>& usable() const { return usable_; }         // by name
  const std::vector<std::string>& refusals() const { return refusals_; }  // "n1 is cordoned"
  /// One sentence for each volume that is out of some node's reach.
  std::vector<std::string> far_volumes() const;
  /// Sites of the gang's servers, with the room there is, or would be on empty nodes.
  std::vector<Site> sites(bool empty) const;
  /// The site of one node.
  Site site(const NodeRoom& room, const Resources& free) const;

 private:
  void heed(const GangVolume& volume);

  const Gang& gang_;
  std::vector<NodeRoom> usable_;
  std::vector<std::string> refusals_;
  // of which nodes it is out of reach
  std::vector<std::pair<const GangVolume*, std::vector<std::string>>> far_;
};

// What stands in the way of a gang, in whole sentences that name nodes and say what would help.

/// Why there is no place for all: what is needed, what there is by domain, which nodes would have to be
/// freed, which nodes are not looked at and why.
std::vector<std::string> obstacles(const Gang& gang, const Room& room);

/// Why a placement costs more than the best possible: which of the best's nodes have no room.
std::vector<std::string> detours(const Gang& gang, const Room& room, const std::vector<std::string>& nodes,
                                 const std::vector<std::string>& ideal);

/// "a, b and 3 more"
std::string listed(const std::vector<std::string>& all);

/// "zone" of topology.kubernetes.io/zone; "node" of kubernetes.io/hostname.
std::string level_name(const std::string& label);

/// "4 servers of 2 ranks (8 cpu, 32.0 GiB memory each)"
std::string demand_text(const Gang& gang);

}  // namespace atl::ctl
