// Which rank trains which part of a prepared graph: each the part of its own number, unless parts that talk
// much were brought together (plan/traffic.h).
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
  /// `parts` (ranks): the part of each rank; every part once (is_permutation()). Empty: as above.
  explicit PartRanks(std::vector<int> parts);

  /// Of several groups of ranks, each with all parts in order, the one that begins with `first`.
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

/// Whether each of 0 … size − 1 stands there once.
bool is_permutation(std::span<const int> parts);

/// "2,0,1,3", by rank; and back. Throws Error, beginning with `what`, where the text isn't that of so many
/// ranks.
std::string parts_text(std::span<const int> parts);
std::vector<int> read_parts(const std::string& text, int ranks, const std::string& what);

}  // namespace atl
