// Dense products of which some rows are copied before they are multiplied: stored in halves, or masked. And
// the small operand's panels, which all products have.
#pragma once

#include "tensor/cpu/arguments.h"
#include "tensor/kernels.h"

namespace atl::cpu {

/// w as simd::Product wants it: packed by the first call for all that find it as it was. `rounded`: as if it
/// were stored in halves.
const Real* panels_of(Context& ctx, ConstMatrixView w, bool transposed, Index inner, Index cols,
                      bool rounded = false);

/// out (+)= a · w, or a · wᵀ, then the finish, where a or out is stored in halves. A chunk's rows are
/// computed in Reals, in the cache. Weights that meet halves are rounded as these are, because the processors
/// that are fastest multiply nothing else.
void product_in_halves(Context& ctx, ConstMatrixView a, ConstMatrixView w, bool transposed, MatrixView out,
                       bool accumulate, const simd::Finish& finish);

/// aᵀ · b a few rows at a time, of which each thread makes copies: where a is masked, or either is stored in
/// halves.
class CopiedRows {
 public:
  /// `widest`: columns of a that one call has at most.
  CopiedRows(Context& ctx, ConstMatrixView a, const Dropout& dropout, ConstMatrixView b, Index widest);
  bool any() const { return a_.cols > 0 || b_.cols > 0 || pairs_ != nullptr; }
  /// Of rows begin … end − 1; `column`: of the draws, where whole.a begins.
  void product_at(const simd::ProductAt& whole, int thread, Index column, Index begin, Index end) const;

 private:
  simd::In read_a(const simd::ProductAt& whole, int thread, Index column, Index row, Index count) const;
  void product_of_pairs(const simd::ProductAt& whole, int thread, Index column, Index begin, Index end) const;

  simd::Mask mask_;
  MatrixView a_, b_;                        // (threads · rows of a copy, cols) or empty: read where they lie
  const simd::PairLoops* pairs_ = nullptr;  // both are in halves, and the processor multiplies pairs
  MatrixView words_;
};

}  // namespace atl::cpu
