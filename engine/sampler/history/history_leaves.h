// A step's neighbours of other ranks, within the batch: in inner layers they are leaves, whose rows come from the cache and not from
// neighbours of theirs. What isn't kept, or is too old, is left out of the sum; what remains of a row's drawn neighbours then stands for
// all of its neighbours, d / (k − m) each with m of k left out.
#pragma once

#include <span>

#include "graph/row_table.h"
#include "sampler/history/history_directory.h"
#include "sampler/structure.h"

namespace atl {

/// What a gathering layer reads from the cache.
struct Leaves {
  Recycled<VertexId> rows, slots;  // each once: prepared rows
  Recycled<VertexId> ids;          // (sources) the data set's of the layer's own rows, then of the leaves
  Recycled<Real> scales;           // (sources) likewise; empty: all 1

  void clear() { rows.take(0), slots.take(0), ids.take(0), scales.take(0); }
  Index size() const { return rows.size(); }
  Index growths() const { return rows.growths() + slots.growths() + ids.growths() + scales.growths(); }
  Index bytes() const { return rows.bytes() + slots.bytes() + ids.bytes() + scales.bytes(); }
};

/// One per sampling thread.
class HistoryCut {
 public:
  /// Leaves out what can't be read, and lists as leaves what others own; their columns become −1 − their number. rows: of which the
  /// arcs are. factors(): what each row's neighbours then stand for.
  void cut(const HistoryDirectory& known, int layer, const HopDraw& hop, std::span<const VertexId> rows,
           DrawnArcs& arcs, Leaves& leaves);
  /// (rows) by row; its self-loops stand for themselves.
  std::span<const float> factors() const { return factors_.span(); }
  Index growths() const { return factors_.growths() + numbers_.growths(); }

 private:
  RowTable numbers_;  // of leaves, by slot
  Recycled<float> factors_;
};

}  // namespace atl
