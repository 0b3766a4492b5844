// DeeperGCN's softmax aggregation (Li et al. 2020, section 3.2): each column has its own softmax over the
// neighbours.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {

void softmax_add(Context& ctx, const Arcs& a, Real t, ConstMatrixView m, const Softmaxes& softmaxes) {
  const simd::SoftmaxSum s = softmax_sum(a.csr, t, m, softmaxes.state, softmaxes.out);
  const ArcChunks chunks{a.csr};
  run_chunks(ctx, chunks.count(),
             [&](Index c) { simd::loops().softmax_sum(s, chunks.begin(c), chunks.end(c)); });
}

void softmax_finish(Context& ctx, const Softmaxes& softmaxes) {
  const SoftmaxState& state = softmaxes.state;
  const MatrixView out = softmaxes.out;
  for_rows(ctx, out.rows, out.cols, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      for (Index c = 0; c < out.cols; ++c) {
        const Real sum = state.sum.at(row, c);
        out.at(row, c) = sum == 0 ? Real(0) : out.at(row, c) / sum;
      }
    }
  });
}

void softmax_backward(Context& ctx, const Arcs& /*a*/, const CsrView& transpose, Real t, ConstMatrixView m,
                      const SoftmaxState& state, ConstMatrixView out, ConstMatrixView d_out, MatrixView d_m) {
  simd::SoftmaxSum s = softmax_sum(transpose, t, m, state, out);
  s.d_out = plain(d_out);
  s.d_m = plain_out(d_m);
  const ArcChunks chunks{transpose};
  run_chunks(ctx, chunks.count(),
             [&](Index c) { simd::loops().softmax_sum_backward(s, chunks.begin(c), chunks.end(c)); });
}

}  // namespace atl::cpu
