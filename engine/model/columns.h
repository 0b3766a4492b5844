// The verb sync: what makes products whole where each rank of a group has some columns of a layer's input, and so the rows of the
// weight that belong to them (P3's layer 1: Gandhi & Iyer 2021, section 3.2). A product over some columns is a summand of the whole one.
#pragma once

#include <span>

#include "base/types.h"
#include "tensor/matrix.h"

namespace atl {

/// All calls are collective over the group, in the same order. Rows of the group: destinations of all its ranks, which every rank
/// aggregates for in its columns.
class Columns {
 public:
  virtual ~Columns() = default;
  virtual std::span<const VertexId> destination_ids() const = 0;  // (rows of the group) original vertex ids
  virtual Index first_column() const = 0;                         // of the whole input, that this rank has

  /// Where this rank's summands go: (rows of the group, cols), undefined at first.
  virtual MatrixView summands(Index cols) = 0;
  /// Starts to bring every row's summands to its owner.
  virtual void begin_whole(MatrixView summands) = 0;
  /// whole (dst, cols) becomes the sum of all ranks' summands of own rows, added in a fixed order.
  virtual void end_whole(MatrixView whole) = 0;
  /// The way back: starts to bring the gradients of all rows to all ranks.
  virtual void begin_spread(ConstMatrixView d_whole) = 0;
  /// (rows of the group, cols); valid until the next call.
  virtual MatrixView end_spread() = 0;
  /// Sums `values` over all ranks in place: scores per vertex, which each rank needs whole of all its rows. Its own adjoint.
  virtual void sum(MatrixView values) = 0;
};

}  // namespace atl
