// Some of the ranks, which sum among themselves: those that hold the same parameters, a stage of a pipeline,
// a server.
#pragma once

#include <span>
#include <vector>

#include "base/types.h"

namespace atl {

class Communicator;

/// What is collective over a group, its members call in the same order; who is in several groups, and whoever
/// they share it with, keep one order over all of them.
class RankGroup {
 public:
  /// Ascending, this rank among them; empty: all ranks.
  RankGroup(const Communicator& comm, std::vector<Rank> members);

  bool everyone() const { return members_.empty(); }
  int size() const { return size_; }
  /// This rank's place among them, from 0.
  Rank place() const { return place_; }
  /// Empty: all ranks.
  std::span<const Rank> members() const { return members_; }

 private:
  std::vector<Rank> members_;
  int size_;
  Rank place_;
};

}  // namespace atl
