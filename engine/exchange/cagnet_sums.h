// What the ranks of a row of CAGNET's grid have summed, added up at the rank that owns the vertices, and the sums' gradients
// spread over the row on the way back.
#pragma once

#include "exchange/cagnet_row.h"

namespace atl {

/// One per exchange; references outlive it. Calls are collective over the row.
class CagnetSums {
 public:
  CagnetSums(Context& ctx, CagnetRow& row, Precision wire) : ctx_(ctx), row_(row), wire_(ctx, wire) {}

  /// (the row's vertices, cols): sums over this column's sources; valid until the next call.
  MatrixView partial(Index cols) const;
  /// sum.target (owned, cols) becomes, or where it is begun grows by, the sum of all ranks' partial sums of own vertices, added
  /// in the order of columns. `partial` isn't whole any more.
  void merge(Traffic purpose, MatrixView partial, const Sum& sum);
  /// (the row's vertices, cols): the gradients sum.d_target (owned, cols) of all ranks of the row; valid until the next call.
  ConstMatrixView spread(const SumGradient& sum);

 private:
  Context& ctx_;
  CagnetRow& row_;
  Wire wire_;  // of training
};

}  // namespace atl
