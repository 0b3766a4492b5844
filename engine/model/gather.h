// The verb gather, as a model sees it: blocks of source rows, pulled one by one.
#pragma once

#include "base/function_ref.h"
#include "graph/csr.h"
#include "tensor/kernels.h"

namespace atl {

/// Whether values are rounded on their way.
enum class Rounding { kByWire, kNever };  // as strategy.wire says

/// The group's rows are the destinations of all its ranks, one rank's after the other's. All calls are
/// collective over the group, in the same order; one transfer is under way at a time.
class RowGroup {
 public:
  virtual ~RowGroup() = default;
  /// Where this rank's summands go: (the group's rows, cols), undefined at first; valid until it is asked for
  /// again.
  virtual MatrixView summands(Index cols) = 0;
  /// Starts to bring every row's summands to its owner.
  virtual void begin_whole(MatrixView summands, Rounding rounding) = 0;
  /// add() gets each rank's summands of own rows, (dst, cols), in a fixed order, in memory that it may write
  /// to.
  virtual void end_whole(FunctionRef<void(MatrixView)> add) = 0;
  /// The way back: starts to bring own rows to all ranks. write() fills them in: (dst, cols).
  virtual void begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) = 0;
  /// (the group's rows, cols); valid until the next spread.
  virtual MatrixView end_spread() = 0;
};

/// Of ranks that share the columns of a layer's input.
class Columns : public RowGroup {
 public:
  /// Sums `values` over all ranks in place: scores per vertex, which each rank needs whole of all its rows.
  /// Its own adjoint.
  virtual void sum(MatrixView values) = 0;
};

/// end_whole(): whole (dst, cols) becomes, or grows by, the sum of all ranks' summands.
inline void end_sum(Context& ctx, RowGroup& group, MatrixView whole, bool accumulate = false) {
  group.end_whole([&](MatrixView summands) {
    axpby(ctx, 1, summands, accumulate ? 1 : 0, whole);
    accumulate = true;
  });
}

/// begin_spread() of own rows that lie elsewhere.
inline void begin_spread(Context& ctx, RowGroup& group, ConstMatrixView own, Rounding rounding) {
  group.begin_spread(own.cols, rounding, [&](MatrixView to) { axpby(ctx, 1, own, 0, to); });
}

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

/// The blocks of one gather. Rows of other ranks are on their way when it is returned: what needs none of
/// them is computed before the first next().
class Gather {
 public:
  virtual ~Gather() = default;
  /// The next block, in a fixed order, once its rows are here; null after the last one. Valid until the next
  /// call. Who begins goes on until null. On the way back asking for the next says that d_rows is final and
  /// may travel. d_rows of own rows may lie in the memory of the layer's d_out.
  virtual const Source* next() = 0;
  /// Whose ranks each sum over sources of their own for all of its rows, which are the destinations then;
  /// null: what is summed over these blocks is whole.
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
