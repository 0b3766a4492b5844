// Some of the ranks, which sum among themselves: holders of the same parameters, a stage of a pipeline, a
// server.
#pragma once

#include <span>
#include <vector>

#include "base/types.h"

namespace atl {

class Communicator;

/// Members call collectives over a group in the same order. A rank in several groups keeps one order over all
/// of them, and so do the ranks that share groups with it.
class RankGroup {
 public:
  /// `members` ascend and include this rank; empty: all ranks.
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
