// The verb gather, as a model sees it: blocks of source rows, which it pulls one by one.
#pragma once

#include "base/function_ref.h"
#include "graph/csr.h"
#include "tensor/kernels.h"

namespace atl {

/// Whether values are rounded while they travel.
enum class Rounding { kByWire, kNever };  // kByWire: as strategy.wire says

/// A group of ranks that sum for one another. The group's rows are the destinations of all its ranks, one
/// rank after the other. All calls are collective over the group, in the same order; one transfer is under
/// way at a time.
class RowGroup {
 public:
  virtual ~RowGroup() = default;
  /// The memory for this rank's summands: (the group's rows, cols), undefined at first, valid until the next
  /// call.
  virtual MatrixView summands(Index cols) = 0;
  /// Starts to send each row's summands to its owner.
  virtual void begin_whole(MatrixView summands, Rounding rounding) = 0;
  /// Calls add() with each rank's summands of own rows, (dst, cols), in a fixed order. add() may write to
  /// that memory.
  virtual void end_whole(FunctionRef<void(MatrixView)> add) = 0;
  /// The way back: starts to send own rows to all ranks. write() fills them in: (dst, cols).
  virtual void begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) = 0;
  /// (the group's rows, cols); valid until the next spread.
  virtual MatrixView end_spread() = 0;
};

/// The group of ranks that share the columns of a layer's input.
class Columns : public RowGroup {
 public:
  /// Sums `values` over all ranks, in place, unrounded. Scores per vertex need it: each rank needs whole
  /// scores for all of the group's rows. The sum is its own adjoint, so backward sums gradients by it too.
  virtual void sum(MatrixView values) = 0;
};

/// Calls end_whole(), and writes the sum of all ranks' summands to whole (dst, cols), or adds it if
/// `accumulate`.
inline void end_sum(Context& ctx, RowGroup& group, MatrixView whole, bool accumulate = false) {
  group.end_whole([&](MatrixView summands) {
    axpby(ctx, 1, summands, accumulate ? 1 : 0, whole);
    accumulate = true;
  });
}

/// Calls begin_spread(), and fills in the rows from `own`, which lies in other memory.
inline void begin_spread(Context& ctx, RowGroup& group, ConstMatrixView own, Rounding rounding) {
  group.begin_spread(own.cols, rounding, [&](MatrixView to) { axpby(ctx, 1, own, 0, to); });
}

/// One block of sources on its way into a sum.
struct Source {
  const Block* block = nullptr;  // destinations of this gather × these sources
  Rows rows;                     // (src, in): the layer's input before dropout, of owned rows, halo rows, …
  int slot = 0;                  // 0 … source slots − 1; the same on the way back
  bool own = false;              // the pass's own rows, all or some of those that gather was given
  bool last = false;
  MatrixView d_rows;  // on the way back: (src, in), to be written in full; empty: the rows take no gradient
};

/// What a softmax's backward reads of its destinations, and where it adds the gradients of their scores.
struct SoftmaxGradient {
  ConstMatrixView scores;  // (dst, heads), or empty
  SoftmaxState state;      // as forward left it
  // What the kernel of the backward asks for: attention_dot() of the result (dst, heads), or the result
  // itself.
  ConstMatrixView result;
  ConstMatrixView d_out;  // (dst, heads·f)
  MatrixView d_scores;    // (dst, heads): added to; or empty
};

/// The blocks of one gather. Rows of other ranks are on their way when it is returned, so a layer computes
/// what needs none of them before the first next().
class Gather {
 public:
  virtual ~Gather() = default;
  /// Waits for the rows of the next block and returns it; null after the last one. The order is fixed, and
  /// the result is valid until the next call. A caller that has begun must call until null. On the way back,
  /// a call says that the d_rows of the block before are final and may travel. d_rows of own rows may lie in
  /// the memory of the layer's d_out.
  virtual const Source* next() = 0;
  /// The group of ranks that sum together; null: a sum over these blocks is whole. In a group, the
  /// destinations are all of the group's rows, and each rank sums over its own sources.
  virtual RowGroup* group() { return nullptr; }
};

/// The kernel's view of a block's arcs.
inline Arcs arcs_of(const Block& b) {
  return {b.arcs, b.dst_scale, b.src_scale};
}
/// The kernel's view of the transpose of a block's arcs: sources receive from destinations, and the scales
/// are swapped.
inline Arcs transposed_arcs_of(const Block& b) {
  return {b.transpose, b.src_scale, b.dst_scale};
}

}  // namespace atl
