// A split for data that has none: --split random:60/20/20.
#pragma once

#include <cstdint>
#include <string>

#include "dataset/dataset.h"

namespace atl {

/// Each vertex is drawn by itself, from the seed and its original id: not per class, and who else is there doesn't
/// matter. Shares are met to chance.
struct DrawnSplit {
  double train = 0, validation = 0, test = 0;  // shares of the labelled vertices; the rest is in no part
  std::uint64_t seed = 0;

  Split part_of(std::int64_t id) const;
  /// "random:60/20/20, seed 1"
  std::string description() const;
};

/// "random:TRAIN/VALIDATION/TEST", percent that add up to 100 at most. Anything else is an Error that names --split.
DrawnSplit parse_drawn_split(const std::string& text, std::uint64_t seed);

}  // namespace atl
