// Which rank trains which part of a prepared graph. By default rank r trains part r; parts that exchange much
// may be placed on the same server instead (plan/traffic.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

class PartRanks {
 public:
  /// Each rank trains the part of its own number.
  PartRanks() = default;
  /// `parts` (ranks): the part of each rank; every part once (is_permutation()). Empty: as by default.
  explicit PartRanks(std::vector<int> parts);

  /// The ranks of one of several groups, each of which has all parts in order. `first` is the group's first
  /// rank.
  static PartRanks of_group(Rank first) {
    PartRanks group;
    group.first_ = first;
    return group;
  }

  int part_of(Rank rank) const { return parts_.empty() ? rank - first_ : parts_[std::size_t(rank)]; }
  Rank rank_of(int part) const { return ranks_.empty() ? first_ + part : ranks_[std::size_t(part)]; }

 private:
  Rank first_ = 0;
  std::vector<int> parts_;   // by rank
  std::vector<Rank> ranks_;  // by part
};

/// Whether `parts` has each of 0 … size − 1 once.
bool is_permutation(std::span<const int> parts);

/// Parts by rank as text, "2,0,1,3", and back. Throws Error, beginning with `what`, where the text isn't a
/// permutation for `ranks` ranks.
std::string parts_text(std::span<const int> parts);
std::vector<int> read_parts(const std::string& text, int ranks, const std::string& what);

}  // namespace atl
