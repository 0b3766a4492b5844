// Graph attention (Veličković et al. 2018), forward, in two passes: maxima and sums from scores alone, then
// the weighted sum, which reads each neighbour's row once.
#include "tensor/cuda/arc_scores.h"
#include "tensor/cuda/table.h"
#include "tensor/cuda/weighted_sums.h"
#include "tensor/dispatch/reals.h"

namespace atl::cuda {

simd::Attend plain(const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const SoftmaxState& state) {
  simd::Attend s;
  s.heads = a.heads;
  s.width = z.cols / a.heads;
  s.slope = a.slope;
  if (a.dropout_rate > 0)
    s.mask = {drop_threshold(a.dropout_rate), Real(1 / (1 - a.dropout_rate)), a.draws.key(), nullptr};
  s.dst_ids = a.dst_ids.data();
  s.src_ids = a.src_ids.data();
  s.z = atl::plain(z);
  s.dst_score = atl::plain(dst_score);
  s.src_score = atl::plain(src_score);
  s.max = plain_out(state.max);
  s.sum = plain_out(state.sum);
  return s;
}

void attention_add(Context& ctx, const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const Softmaxes& softmaxes) {
  if (!stored_alike(z, softmaxes.out))
    return call_in_reals(&cuda::attention_add, ctx, a, z, dst_score, src_score, softmaxes);
  simd::Attend s = plain(a, z, dst_score, src_score, softmaxes.state);
  const CsrView& arcs = a.arcs.csr;
  s.offsets = arcs.offsets;
  s.columns = arcs.columns;
  s.weights = arcs.weights;
  s.out = plain_out(softmaxes.out);
  static constexpr ScratchKey kShrink;
  const MatrixView shrink = ctx.workspace->matrix(kShrink, arcs.rows, s.heads);
  const KeptArcs keep = kept_arcs(ctx, arcs, s.heads);
  constexpr int kLanesLog = 3;  // log₂ of the lanes of a row's head
  for_arcs(ctx, ArcScores{s, plain_out(shrink), keep},
           ArcShape{arcs.rows, s.heads, true, kLanesLog, arcs.cols});
  if (s.width == 0) return;
  if (z.halves != nullptr) return weigh_halves(ctx, s, arcs, atl::plain(shrink), keep);
  weigh<Real>(ctx, s, arcs, atl::plain(shrink), keep);
}

}  // namespace atl::cuda
