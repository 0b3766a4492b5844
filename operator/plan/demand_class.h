// What gangs that are alike find in a cluster: how many of their servers each node takes now, and would take
// if only daemon sets' pods ran on it, and whether it takes a launcher. It is followed node by node, so that
// sums tell whether such a gang could fit, without a search. And the room that is kept for a gang.
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

// Room that is kept for a gang which has waited too long, so that gangs which need less don't for ever take
// each node as it becomes free.
//
// All jobs' pods end some day; other people's may not. So a gang that doesn't fit now gets nodes that it
// could have once the jobs on them have ended, namely those that lack the least:
//
//  1. In each domain that must hold the whole gang (or in the cluster), as many nodes as the gang needs:
//     first those where servers fit already, then those that lack the smallest share of what servers need.
//  2. Of several domains, the one that lacks the least.
//  3. What the gang will need on these nodes is kept. The rest of them is open to anybody.
//
// Nothing may be put where room is kept, so the lack can only shrink: when planned again, the answer changes
// only to one that is nearer.
//
// Room can be kept for several gangs if they need different nodes: the later one's on nodes that the earlier
// could never use. So none waits for another, and a gang that waits for GPUs for days doesn't keep those that
// need none from having their turn.

struct Reservation {
  std::string job;                 // the gang's job
  std::vector<std::string> nodes;  // in order of name
  std::vector<PodState> room;      // the kept room, as pods that occupy it: one a node
  /// Nodes that a later reservation must leave out: those where one of its servers could run once all jobs
  /// there have ended, and `nodes`.
  std::set<std::string> claimed;
};

/// Pure. Keeps no room on nodes of `but`. Nothing where the gang would not fit on the others even if all jobs
/// had ended: then waiting for it helps nobody.
std::optional<Reservation> reserve(const Gang& gang, const Snapshot& snapshot,
                                   const std::set<std::string>& but = {});

/// "n1, n2 and 3 more are"
std::string text_of(const Reservation& reservation);

/// Nodes are named by their place in a snapshot whose `left` is known (RoomTable's).
class ClassRoom {
 public:
  /// `gang`: any of the class. None of its pods has room.
  ClassRoom(Gang gang, const Snapshot& snapshot);

  /// Counts a node again, which has changed, or has just come.
  void count(const Snapshot& snapshot, std::size_t node);
  /// Nodes have come or gone. `from`: where each node was before; −1: nowhere.
  void move(const std::vector<int>& from);

  /// Whether the servers of one gang would fit beside daemon sets' pods alone. If not, only other nodes, or
  /// smaller daemon sets, can help.
  bool could_ever() const;
  struct Fit {
    std::int64_t gangs = 0;       // that could fit at most; 0: none does
    bool lacks_launcher = false;  // a gang's servers would, but no node has room for its launcher beside them
  };
  /// Beside room that is kept, as pods that occupy it, one a node at most.
  Fit could_fit(const Snapshot& snapshot, const std::vector<PodState>& kept = {}) const;
  /// Whether its pods may use any of the nodes, however full those are.
  bool may_use_any(const Snapshot& snapshot, const std::vector<std::string>& nodes) const;

 private:
  enum class Launcher : std::uint8_t {
    kNever,   // may not run there
    kNone,    // has no room there
    kCosts,   // has room, and takes the place of a server
    kBeside,  // has room beside as many servers
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
  /// Takes what is free there now into account.
  void fill(Node& node, const NodeState& state, const Resources& free) const;
  bool reaches_volumes(const NodeState& node, bool of_servers) const;
  std::int32_t domain_of(const NodeState& node);
  std::uint16_t slots(const NodeState& node, const Resources& free) const;

  const Gang gang_;
  std::vector<Node> nodes_;
  std::map<std::string, std::int32_t> domains_;  // those of which one must hold all servers
  Sums sums_;
};

}  // namespace atl::ctl
