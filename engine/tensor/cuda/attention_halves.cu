// Attention, forward and backward, over rows stored in halves. Computations use Reals.
#include "tensor/cuda/gradients.h"
#include "tensor/cuda/weighted_sums.h"

namespace atl::cuda {

void weigh_halves(Context& ctx, const simd::Attend& s, const CsrView& arcs, const simd::In& shrink,
                  const KeptArcs& keep) {
  weigh<Bfloat16>(ctx, s, arcs, shrink, keep);
}

void way_back_of_halves(Context& ctx, const simd::Attend& s, const CsrView& transpose, const CsrView& arcs,
                        const KeptArcs& keep) {
  way_back<Bfloat16>(ctx, s, transpose, arcs, keep);
}

}  // namespace atl::cuda
