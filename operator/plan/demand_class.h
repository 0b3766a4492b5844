// What gangs that are alike find in a cluster: how many of their servers each node takes now, and would take
// beside daemon sets' pods alone, and whether it takes a launcher. It is followed node by node, so that
// whether one of them could fit is told by sums, without a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operator/plan/gang.h"
#include "operator/plan/reservation.h"

namespace atl::ctl {

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
