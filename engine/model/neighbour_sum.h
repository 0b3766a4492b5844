// What convolutions have in common: Â · drop(rows) · W over the blocks of sources, and its way back. The narrower
// side is aggregated: the rows before their product with W where in ≤ out, their products otherwise (and for packed
// features). (Kipf & Welling 2017, equation 2; sums over neighbours and products with W commute.)
#pragma once

#include "model/aggregate.h"
#include "model/conv.h"
#include "model/layer.h"
#include "model/transform.h"

namespace atl {

class NeighbourSum {
 public:
  /// Of `options` it takes sizes, index and dropout.
  explicit NeighbourSum(const LayerOptions& options);

  bool aggregate_first() const { return aggregate_first_; }
  /// The first of the layer's saved matrices, or none.
  std::vector<SavedSpec> saved() const;
  Index gather_columns() const { return aggregate_first_ ? options_.in : options_.out; }

  /// The layer's own work while rows of other ranks, or their gradients, travel.
  using OwnWork = FunctionRef<void()>;

  /// target = Â · drop(rows) · w, then the finish; added to what `own_work` leaves there, where that is `begun`.
  /// rows (own, in), w (in, out), target (dst, out). `own`: of `rows`.
  void forward(Verbs& verbs, const Rows& rows, OwnRows& own, ConstMatrixView w, Saved& saved,
               const Sum& target, const Epilogue& finish, OwnWork own_work = no_own_work) const;
  /// d_w (in, out) is added to; d_rows (own, in), unless it is empty, is written. d_target (dst, out); `scratch`
  /// (dst, out) is memory that nobody needs any more.
  void backward(Verbs& verbs, const Rows& rows, ConstMatrixView w, Saved& saved, ConstMatrixView d_target,
                MatrixView scratch, MatrixView d_w, MatrixView d_rows, OwnWork own_work = no_own_work) const;

 private:
  Dropout dropout_of(Verbs& verbs, const Source& s) const {
    return verbs.input_dropout(options_.dropout, options_.dropout_purpose, options_.index, s.block->src_ids);
  }

  LayerOptions options_;
  bool aggregate_first_;
};

}  // namespace atl
