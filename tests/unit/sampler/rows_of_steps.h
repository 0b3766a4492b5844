// The rows that each rank's batches read, in tests of fetching: of 90 rows in five parts, one of them empty.
#pragma once

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace atl {

inline constexpr Index kRows = 90;
inline const std::vector<Index> kParts{0, 20, 20, 41, 60, 90};

/// A rank's rows of a step, each once; some steps have none.
inline std::vector<VertexId> rows_of(Rank rank, int step) {
  std::vector<VertexId> rows;
  const Draws draws(2, Purpose::kSampling, std::uint64_t(step), std::uint64_t(rank));
  for (VertexId row = 0; row < kRows; ++row)
    if ((step + rank) % 4 != 0 && draws.uniform_at(std::uint64_t(row), 0) < 20.0 / (10 + row))
      rows.push_back(row);
  std::ranges::sort(rows, {}, [&](VertexId row) { return draws.bits64_at(std::uint64_t(row), 1); });
  return rows;
}

}  // namespace atl
