// Inverted dropout as kernels see it. Draws are keyed by vertex ids, not by places in memory, so every rank,
// thread and pass drops the same elements (base/random.h).
#pragma once

#include <limits>
#include <span>

#include "base/random.h"
#include "base/types.h"

namespace atl {

/// The element (row r, column c) is dropped if draws.bits_at(ids[r], c) is below drop_threshold(rate);
/// otherwise it is scaled by 1 / (1 − rate). A rate of 0 leaves everything as it is.
struct Dropout {
  double rate = 0;
  Draws draws = {};
  std::span<const VertexId> ids{};  // (rows) original vertex ids of the rows it is applied to
  // place of the first column in the whole rows, if these rows have only some of their columns
  Index first_column = 0;
  // the rows that it is applied to; the others stay as they are
  Index begin = 0, end = std::numeric_limits<Index>::max();

  explicit operator bool() const { return rate > 0; }
  /// The dropout of the `count` rows from `first` on alone. The ids outlive it.
  Dropout of_rows(Index first, Index count) const {
    Dropout part = *this;
    if (rate > 0) part.ids = ids.subspan(std::size_t(first), std::size_t(count));
    part.begin = begin > first ? begin - first : 0, part.end = end > first ? end - first : 0;
    return part;
  }
};

}  // namespace atl
