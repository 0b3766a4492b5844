// Attention's backward pass: one pass over the transposed arcs, which reads each destination's gradient once,
// and a sum of the shares that it has kept (gradients.h).
#include "tensor/cuda/gradients.h"
#include "tensor/cuda/table.h"
#include "tensor/dispatch/reals.h"

namespace atl::cuda {

void attention_backward(Context& ctx, const Attention& a, const CsrView& transpose,
                        const Index* transpose_arc, ConstMatrixView z, ConstMatrixView dst_score,
                        ConstMatrixView src_score, const SoftmaxState& state, ConstMatrixView dot,
                        ConstMatrixView d_out, MatrixView d_z, MatrixView d_src_score,
                        MatrixView d_dst_score) {
  if (!stored_alike(z, d_out, d_z))
    return call_in_reals(&cuda::attention_backward, ctx, a, transpose, transpose_arc, z, dst_score, src_score,
                         state, dot, d_out, d_z, d_src_score, d_dst_score);
  const CsrView& arcs = a.arcs.csr;
  simd::Attend s = plain(a, z, dst_score, src_score, state);
  s.dot = atl::plain(dot);
  s.d_out = atl::plain(d_out);
  s.d_z = plain_out(d_z);
  s.d_src_score = plain_out(d_src_score);
  s.d_dst_score = plain_out(d_dst_score);
  pack_destinations(ctx, s, arcs.rows);
  if (s.width == 0) s.z = s.d_out = {s.packed.data, 0};  // nothing is read, but addresses must be valid
  // Without the places of transposed arcs nothing can be kept.
  const KeptArcs keep = transpose_arc == nullptr ? KeptArcs{nullptr, 0} : kept_arcs(ctx, arcs, s.heads);
  s.arc_of = transpose_arc;
  if (s.width > 0 && z.halves != nullptr) return way_back_of_halves(ctx, s, transpose, arcs, keep);
  way_back<Real>(ctx, s, transpose, arcs, keep);
}

}  // namespace atl::cuda
