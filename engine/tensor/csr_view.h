// Compressed sparse rows as kernels see them: arrays that somebody else owns.
// Row = destination, column = source, everywhere in Atoll.
#pragma once

#include <cstddef>
#include <span>

#include "base/types.h"

namespace atl {

/// Arcs of `rows` destinations to `cols` sources. Positions are 64-bit, ids 32-bit.
struct CsrView {
  Index rows = 0, cols = 0;
  const Index* offsets = nullptr;     // (rows + 1)
  const VertexId* columns = nullptr;  // (arcs)
  const float* weights = nullptr;     // (arcs), or null: every arc weighs 1 and no value is ever read

  Index arcs() const { return rows == 0 ? 0 : offsets[rows] - offsets[0]; }
  Index degree(Index row) const { return offsets[row + 1] - offsets[row]; }
  std::span<const VertexId> row(Index r) const { return {columns + offsets[r], std::size_t(degree(r))}; }
};

}  // namespace atl
