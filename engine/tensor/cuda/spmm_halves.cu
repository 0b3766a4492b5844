// Sums over neighbours with rows or results stored in halves. Sums are computed in Reals.
#include "tensor/cuda/sum_of_rows.h"

namespace atl::cuda {

void sum_up_halves(Context& ctx, const CsrView& csr, const simd::Spmm& s, Index cols) {
  const bool fours = in_packs(4, cols, s.x, s.out);
  if (s.x.halves == nullptr)
    return fours ? sum_up<4, Real, true>(ctx, csr, s, cols) : sum_up<1, Real, true>(ctx, csr, s, cols);
  if (in_packs(8, cols, s.x, s.out)) return sum_up<8, Bfloat16, true>(ctx, csr, s, cols);
  fours ? sum_up<4, Bfloat16, true>(ctx, csr, s, cols) : sum_up<1, Bfloat16, true>(ctx, csr, s, cols);
}

}  // namespace atl::cuda
