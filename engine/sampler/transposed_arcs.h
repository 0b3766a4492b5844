// The arcs of a batch's layer from the other end, as the way back through it reads them.
#pragma once

#include <cstdint>

#include "base/recycled.h"
#include "graph/csr.h"

namespace atl {

/// Recycled with its batch.
struct TransposedArcs {
  Recycled<Index> offsets;     // (sources + 1)
  Recycled<VertexId> columns;  // (arcs)
  Recycled<float> weights;     // (arcs), where there are any
  Recycled<Index> arc;         // (arcs) place of each among the arcs that it was made from, where asked for

  /// Counting sort of `arcs` (destinations × sources). cursors: scratch.
  void make(const CsrView& arcs, bool places, Recycled<std::uint32_t>& cursors);
  /// As (sources × destinations); valid until make().
  CsrView view(Index destinations) const;
  Index growths() const { return offsets.growths() + columns.growths() + weights.growths() + arc.growths(); }
  Index bytes() const { return offsets.bytes() + columns.bytes() + weights.bytes() + arc.bytes(); }
};

}  // namespace atl
