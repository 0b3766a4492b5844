// Graph attention (Veličković et al. 2018), fused: scores, softmax and weighted sum in one visit of each
// neighbour. Nothing is stored per arc; the backward pass computes α again and keeps one number per arc and
// head.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

/// The arguments that forward and backward have in common.
simd::Attend plain(const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const SoftmaxState& state) {
  simd::Attend s;
  s.heads = a.heads;
  s.width = z.cols / a.heads;
  s.slope = a.slope;
  if (a.dropout_rate > 0) {
    s.mask = {drop_threshold(a.dropout_rate), Real(1 / (1 - a.dropout_rate)), a.draws.key(), nullptr};
  }
  s.dst_ids = a.dst_ids.data();
  s.src_ids = a.src_ids.data();
  s.z = plain(z);
  s.dst_score = plain(dst_score);
  s.src_score = plain(src_score);
  s.max = plain_out(state.max);
  s.sum = plain_out(state.sum);
  return s;
}

}  // namespace

void attention_add(Context& ctx, const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const Softmaxes& softmaxes) {
  simd::Attend s = plain(a, z, dst_score, src_score, softmaxes.state);
  const MatrixView out = softmaxes.out;
  s.offsets = a.arcs.csr.offsets;
  s.columns = a.arcs.csr.columns;
  s.weights = a.arcs.csr.weights;
  s.out = plain_out(out);
  const ArcChunks chunks{a.arcs.csr};
  run_chunks(ctx, chunks.count(), [&](Index c) { simd::loops().attend(s, chunks.begin(c), chunks.end(c)); });
}

void attention_finish(Context& ctx, const Softmaxes& softmaxes) {
  const SoftmaxState& state = softmaxes.state;
  const MatrixView out = softmaxes.out;
  const Index heads = state.sum.cols, width = heads == 0 ? 0 : out.cols / heads;
  for_rows(ctx, out.rows, out.cols, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      for (Index head = 0; head < heads; ++head) {
        const Real sum = state.sum.at(row, head), factor = sum == 0 ? Real(0) : Real(1) / sum;
        Real* values = out.row(row) + head * width;
        for (Index c = 0; c < width; ++c) values[c] *= factor;
      }
    }
  });
}

void attention_backward(Context& ctx, const Attention& a, const CsrView& transpose,
                        const Index* transpose_arc, ConstMatrixView z, ConstMatrixView dst_score,
                        ConstMatrixView src_score, const SoftmaxState& state, ConstMatrixView dot,
                        ConstMatrixView d_out, MatrixView d_z, MatrixView d_src_score,
                        MatrixView d_dst_score) {
  const CsrView& arcs = a.arcs.csr;
  simd::Attend s = plain(a, z, dst_score, src_score, state);
  static constexpr ScratchKey kArcScores, kPacked;
  const MatrixView d_score = ctx.workspace->matrix(kArcScores, arcs.arcs(), a.heads);
  s.offsets = transpose.offsets;
  s.columns = transpose.columns;
  s.weights = transpose.weights;
  s.arc_of = transpose_arc - (transpose.rows == 0 ? 0 : transpose.offsets[0]);
  s.dot = plain(dot);
  s.d_out = plain(d_out);
  s.d_z = plain_out(d_z);
  s.d_src_score = plain_out(d_src_score);
  s.d_score = d_score.data;
  s.packed = plain_out(ctx.workspace->matrix(kPacked, arcs.rows, 4 * a.heads));
  s.d_dst_score = plain_out(d_dst_score);
  for_rows(ctx, arcs.rows, 4 * a.heads,
           [&](Index begin, Index end) { simd::loops().pack_scores(s, begin, end); });
  const ArcChunks by_source{transpose}, by_destination{arcs};
  run_chunks(ctx, by_source.count(),
             [&](Index c) { simd::loops().attend_backward(s, by_source.begin(c), by_source.end(c)); });
  s.offsets = arcs.offsets;
  s.d_score -= arcs.rows == 0 ? 0 : arcs.offsets[0] * a.heads;  // offsets may begin above 0
  run_chunks(ctx, by_destination.count(), [&](Index c) {
    simd::loops().add_arc_scores(s, by_destination.begin(c), by_destination.end(c));
  });
}

}  // namespace atl::cpu
