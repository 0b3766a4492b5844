// Which rank owns which rows of a prepared graph in mini-batch training. Each rank owns consecutive parts,
// about equally many. So a graph is prepared once, and any number of ranks up to its parts train on it, with
// the same batches.
#pragma once

#include <span>
#include <vector>

#include "base/types.h"
#include "partition/part_ranks.h"

namespace atl {

class Owners {
 public:
  /// `part_offsets` (parts + 1) is PreparedGraph's. Throws Error if there are fewer parts than ranks.
  Owners(std::span<const Index> part_offsets, int ranks);

  /// For full batches: one part per rank, in the order of `ranks`.
  Owners(std::span<const Index> part_offsets, const PartRanks& ranks);

  int ranks() const { return int(first_part_.size()) - 1; }
  int parts() const { return first_part_.back(); }
  /// A rank's parts are first_part(rank) … first_part(rank + 1) − 1, if parts are in the order of ranks;
  /// likewise its rows.
  int first_part(Rank rank) const { return first_part_[place_of(rank)]; }
  int part_count(Rank rank) const { return first_part_[place_of(rank) + 1] - first_part(rank); }
  Index first_row(Rank rank) const { return first_row_[place_of(rank)]; }
  Index rows(Rank rank) const { return first_row_[place_of(rank) + 1] - first_row(rank); }
  bool owns(Rank rank, VertexId row) const {
    return row >= first_row(rank) && row < first_row(rank) + rows(rank);
  }
  Rank owner_of(VertexId row) const;
  /// Part p has rows part_begin(p) … part_begin(p + 1) − 1.
  Index part_begin(int part) const { return part_begin_[std::size_t(part)]; }
  int part_of(VertexId row) const;

 private:
  /// The end of all, rank ranks(), comes after the last place.
  std::size_t place_of(Rank rank) const {
    return std::size_t(rank == Rank(first_part_.size()) - 1 ? rank : order_.part_of(rank));
  }
  std::vector<int> first_part_;    // (ranks + 1) by place, …
  std::vector<Index> first_row_;   // (ranks + 1) … ascending
  PartRanks order_;                // rank of each place
  std::vector<Index> part_begin_;  // (parts + 1)
};

}  // namespace atl
