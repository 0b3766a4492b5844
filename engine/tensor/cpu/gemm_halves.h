// Dense products that copy some rows before they multiply them, because these are stored in halves or masked.
// Also the small operand's panels, which all products have.
#pragma once

#include "tensor/cpu/arguments.h"
#include "tensor/kernels.h"

namespace atl::cpu {

/// w in the form that simd::Product takes. The first call packs it for all later calls that find it
/// unchanged. `rounded`: as if it were stored in halves.
const Real* panels_of(Context& ctx, ConstMatrixView w, bool transposed, Index inner, Index cols,
                      bool rounded = false);

/// out (+)= a · w, or a · wᵀ, then the finish. Used if a or out is stored in halves. A chunk's rows are
/// computed in Reals, in the cache. Weights multiplied with halves are rounded to halves too, because the
/// fastest processors multiply only pairs of halves.
void product_in_halves(Context& ctx, ConstMatrixView a, ConstMatrixView w, bool transposed, MatrixView out,
                       bool accumulate, const simd::Finish& finish);

/// aᵀ · b by a few rows at a time, which each thread copies. Used if a is masked, or either is stored in
/// halves.
class CopiedRows {
 public:
  /// `widest`: the most columns of a in one call.
  CopiedRows(Context& ctx, ConstMatrixView a, const Dropout& dropout, ConstMatrixView b, Index widest);
  bool any() const { return a_.cols > 0 || b_.cols > 0 || pairs_ != nullptr; }
  /// Multiplies rows begin … end − 1. `column`: the column of the draws at which whole.a begins.
  void product_at(const simd::ProductAt& whole, int thread, Index column, Index begin, Index end) const;

 private:
  simd::In read_a(const simd::ProductAt& whole, int thread, Index column, Index row, Index count) const;
  void product_of_pairs(const simd::ProductAt& whole, int thread, Index column, Index begin, Index end) const;

  simd::Mask mask_;
  MatrixView a_, b_;  // (threads · rows of a copy, cols), or empty: rows are read in place
  const simd::PairLoops* pairs_ = nullptr;  // not null: both are in halves, multiplied in pairs
  MatrixView words_;
};

}  // namespace atl::cpu
