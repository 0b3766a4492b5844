// What gangs of one class find in a cluster. ClassRoom counts for each node how many of their servers fit
// now, how many would fit beside the pods of daemon sets alone, and whether the launcher fits. The counts are
// updated node by node, so that sums tell without a search whether such a gang could fit. This file also
// chooses the room that is kept for a gang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/plan/gang.h"

namespace atl::ctl {

// Room that is kept for a gang which has waited too long. Otherwise gangs that need less could take every
// node as it becomes free, for ever.
//
// The pods of jobs end some day; pods of others may not. So a gang that doesn't fit now gets nodes on which
// it fits once the jobs there have ended. Of these, it gets the nodes that lack the least room:
//
//  1. In each domain that may hold the whole gang (or in the cluster), as many nodes are chosen as the gang
//     needs. Nodes where servers fit already come first. Then come those that lack the smallest share of
//     what a server needs.
//  2. Of several domains, the one that lacks the least is chosen.
//  3. What the gang will need on these nodes is kept. The rest of their room is open to anybody.
//
// Nobody else may use the kept room, so what it lacks can only shrink. When the room is chosen again, it
// moves only to nodes that lack less.
//
// Room can be kept for several gangs if they need different nodes. A later gang's room is then on nodes that
// no earlier gang could ever use. So no gang waits for another. A gang that waits days for GPUs doesn't hold
// up gangs that need none.

struct Reservation {
  std::string job;                 // the gang's job
  std::vector<std::string> nodes;  // in order of name
  std::vector<PodState> room;      // the kept room, as one pod for each node
  /// Nodes that later reservations must leave out: `nodes`, and the nodes where one of the gang's servers
  /// could run once all jobs there have ended.
  std::set<std::string> claimed;
};

/// Chooses the room to keep for a gang, on no node of `but`. Pure. Nothing if the gang wouldn't fit on the
/// other nodes even when all jobs there have ended, because then waiting doesn't help it.
std::optional<Reservation> reserve(const Gang& gang, const Snapshot& snapshot,
                                   const std::set<std::string>& but = {});

/// "n1, n2 and 3 more are"
std::string text_of(const Reservation& reservation);

/// Room for one class. Nodes are given by their indices in a snapshot whose `left` is filled (RoomTable's).
class ClassRoom {
 public:
  /// `gang` is any gang of the class. None of its pods may hold room.
  ClassRoom(Gang gang, const Snapshot& snapshot);

  /// Counts a node anew, which has changed or has just come.
  void count(const Snapshot& snapshot, std::size_t node);
  /// Nodes have come or gone. `from` has each node's former index; −1: it is new.
  void move(const std::vector<int>& from);

  /// Whether the servers of one gang would fit beside the pods of daemon sets alone. If not, only other nodes
  /// or smaller daemon sets can help.
  bool could_ever() const;
  struct Fit {
    std::int64_t gangs = 0;       // at most so many gangs fit; 0: none does
    bool lacks_launcher = false;  // a gang's servers fit, but no launcher beside them
  };
  /// How many gangs could fit beside kept room, which is given as pods, at most one per node.
  Fit could_fit(const Snapshot& snapshot, const std::vector<PodState>& kept = {}) const;
  /// Whether a gang's pods may use any of these nodes, however full the nodes are.
  bool may_use_any(const Snapshot& snapshot, const std::vector<std::string>& nodes) const;

 private:
  enum class Launcher : std::uint8_t {
    kNever,   // may not run there
    kNone,    // has no room there
    kCosts,   // has room only in place of a server
    kBeside,  // has room without taking a server's place
  };
  struct Node {
    std::int32_t domain = -1;  // −1: servers may not use it
    std::uint16_t now = 0, empty = 0;
    Launcher launcher = Launcher::kNever;
  };
  struct Domain {
    std::int64_t now = 0, empty = 0;
    std::int64_t costly = 0;  // nodes where a launcher takes the place of a server
  };
  struct Sums {
    std::vector<Domain> domains;
    std::int64_t beside = 0, costly = 0;  // nodes that take a launcher, in all domains and in none
    void add(const Node& node, int sign);
  };

  Node look_at(const NodeState& state, const NodeLeft& left);
  /// Counts what fits into `free` on the node.
  void fill(Node& node, const NodeState& state, const Resources& free) const;
  bool reaches_volumes(const NodeState& node, bool of_servers) const;
  std::int32_t domain_of(const NodeState& node);
  std::uint16_t slots(const NodeState& node, const Resources& free) const;

  const Gang gang_;
  std::vector<Node> nodes_;
  std::map<std::string, std::int32_t> domains_;  // the domains of which one must hold all servers
  Sums sums_;
};

}  // namespace atl::ctl
