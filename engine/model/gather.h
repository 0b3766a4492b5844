// The verb gather, as a model sees it: blocks of source rows, pulled one by one.
#pragma once

#include "graph/csr.h"
#include "model/row_group.h"

namespace atl {

/// One block of sources on its way into a sum.
struct Source {
  const Block* block = nullptr;  // destinations of this gather × these sources
  Rows rows;         // (src, in): the layer's input, before dropout. Of owned rows, halo rows, …
  int slot = 0;      // 0 … source slots − 1; the same there and back
  bool own = false;  // the pass's own rows: what gather was given, or some of it
  bool last = false;
  MatrixView d_rows;  // on the way back: (src, in), to be written in full; empty: the rows take no gradient
};

/// What the way back from a softmax reads of its destinations, and where the gradient of their scores goes.
struct SoftmaxGradient {
  ConstMatrixView scores;  // (dst, heads), or empty
  SoftmaxState state;      // as forward left it
  ConstMatrixView result;  // (dst, heads): what the kernel asks for of the result: attention_dot, or itself
  ConstMatrixView d_out;   // (dst, heads·f)
  MatrixView d_scores;     // (dst, heads): added to; or empty
};

/// The blocks of one gather. Rows of other ranks are on their way when it is returned: what needs none of them is computed before
/// the first next().
class Gather {
 public:
  virtual ~Gather() = default;
  /// The next block, in a fixed order, once its rows are here; null after the last one. Valid until the next call. Who begins
  /// goes on until null. On the way back asking for the next says that d_rows is final and may travel. d_rows of own rows may lie in
  /// the memory of the layer's d_out.
  virtual const Source* next() = 0;
  /// Whose ranks each sum over sources of their own for all of its rows, which are the destinations then; null: what is summed over these
  /// blocks is whole.
  virtual RowGroup* group() { return nullptr; }
};

/// The kernel's view of a block's arcs.
inline Arcs arcs_of(const Block& b) {
  return {b.arcs, b.dst_scale, b.src_scale};
}
/// … and of its transpose: sources receive from destinations, scales swapped.
inline Arcs transposed_arcs_of(const Block& b) {
  return {b.transpose, b.src_scale, b.dst_scale};
}

}  // namespace atl
