// The verb sync: what makes rows whole that several ranks compute together, each a summand of every row. The ranks are a group: they share
// the columns of a layer's input, and so the rows of the weight that belong to them (P3's layer 1: Gandhi & Iyer 2021, section 3.2), or the
// sources of a sum (1.5D: Tripathy et al. 2020, section IV-B).
#pragma once

#include "base/function_ref.h"
#include "tensor/kernels.h"

namespace atl {

/// Whether values are rounded on their way.
enum class Rounding { kByWire, kNever };  // as strategy.wire says

/// The group's rows are the destinations of all its ranks, one rank's after the other's. All calls are collective over the group, in the
/// same order; one transfer is under way at a time.
class RowGroup {
 public:
  virtual ~RowGroup() = default;
  /// Where this rank's summands go: (the group's rows, cols), undefined at first; valid until it is asked for again.
  virtual MatrixView summands(Index cols) = 0;
  /// Starts to bring every row's summands to its owner.
  virtual void begin_whole(MatrixView summands, Rounding rounding) = 0;
  /// add() gets each rank's summands of own rows, (dst, cols), in a fixed order, in memory that it may write to.
  virtual void end_whole(FunctionRef<void(MatrixView)> add) = 0;
  /// The way back: starts to bring own rows to all ranks. write() fills them in: (dst, cols).
  virtual void begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) = 0;
  /// (the group's rows, cols); valid until the next spread.
  virtual MatrixView end_spread() = 0;
};

/// Of ranks that share the columns of a layer's input.
class Columns : public RowGroup {
 public:
  /// Sums `values` over all ranks in place: scores per vertex, which each rank needs whole of all its rows. Its own adjoint.
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

}  // namespace atl
