// What gangs that are alike find in a cluster: how many of their servers each node takes now, and would take
// beside daemon sets' pods alone. It is followed node by node, so that whether one of them could fit is told
// by sums, without a search.
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
  /// How many gangs' servers could fit now at most, beside room that is kept; null: none is.
  std::int64_t could_fit(const Snapshot& snapshot, const Reservation* kept) const;

 private:
  struct Node {
    std::int32_t domain = -1;  // −1: it can't be used
    std::uint16_t now = 0, empty = 0;
  };
  struct Sums {
    std::int64_t now = 0, empty = 0;
  };

  bool takes_servers(const NodeState& node) const;
  std::int32_t domain_of(const NodeState& node);
  std::uint16_t slots(const NodeState& node, const Resources& free) const;
  void add(const Node& node, int sign);

  const Gang gang_;
  std::vector<Node> nodes_;
  std::map<std::string, std::int32_t> domains_;  // those of which one must hold all servers
  std::vector<Sums> sums_;                       // by domain
};

}  // namespace atl::ctl
