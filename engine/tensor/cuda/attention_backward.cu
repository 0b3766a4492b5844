// Attention's way back: one pass over the transposed arcs, in which each destination's gradient is read once, and a sum of what it has
// kept (gradients.h).
#include "tensor/cuda/gradients.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// By source, then by destination.
template <bool kDropout>
void along_both(Context& ctx, const simd::Attend& s, const CsrView& transpose, const CsrView& arcs,
                const KeptArcs& keep) {
  const auto along = [&s](const CsrView& csr) {
    simd::Attend turned = s;
    turned.offsets = csr.offsets, turned.columns = csr.columns, turned.weights = csr.weights;
    return turned;
  };
  const bool fours = in_packs(4, s.width, s.z, s.d_out, s.d_z);
  for_heads(fours, transpose, s.heads, s.width, [&]<int V, int C>(HeadLanes layout, const ArcShape& shape) {
    constexpr int kRoom = C > 2 ? 4 : 10;
    for_arcs(ctx, Gradients<V, C, 4, true, kDropout, kRoom>{along(transpose), layout, keep}, shape);
  });
  for_heads(fours, arcs, s.heads, s.width, [&]<int V, int C>(HeadLanes layout, const ArcShape& shape) {
    constexpr int kRoom = C > 2 ? 4 : 10;
    for_arcs(ctx, Gradients<V, C, 4, false, kDropout, kRoom>{along(arcs), layout, keep}, shape);
  });
}

}  // namespace

void attention_backward(Context& ctx, const Attention& a, const CsrView& transpose,
                        const Index* transpose_arc, ConstMatrixView z, ConstMatrixView dst_score,
                        ConstMatrixView src_score, const SoftmaxState& state, ConstMatrixView dot,
                        ConstMatrixView d_out, MatrixView d_z, MatrixView d_src_score,
                        MatrixView d_dst_score) {
  const CsrView& arcs = a.arcs.csr;
  simd::Attend s = plain(a, z, dst_score, src_score, state);
  s.dot = atl::plain(dot);
  s.d_out = atl::plain(d_out);
  s.d_z = plain_out(d_z);
  s.d_src_score = plain_out(d_src_score);
  s.d_dst_score = plain_out(d_dst_score);
  pack_destinations(ctx, s, arcs.rows);
  if (s.width == 0) s.z = s.d_out = {s.packed.data, 0};  // there is nothing to read but something
  // Without the places of transposed arcs nothing is kept.
  const KeptArcs keep =
      transpose_arc == nullptr ? KeptArcs{nullptr, 0} : kept_arcs(ctx, "attention.arcs", arcs, s.heads);
  s.arc_of = transpose_arc;
  if (s.mask.threshold == 0) return along_both<false>(ctx, s, transpose, arcs, keep);
  along_both<true>(ctx, s, transpose, arcs, keep);
}

}  // namespace atl::cuda
