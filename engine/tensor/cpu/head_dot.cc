// Products of rows head by head: attention's scores, and the product with the output that its backward pass
// needs.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

simd::HeadDot plain(int heads, ConstMatrixView x, simd::In y, ConstMatrixView product) {
  simd::HeadDot h;
  h.heads = heads;
  h.width = x.cols / heads;
  h.x = plain(x);
  h.y = y;
  // the forward pass writes the product; the backward pass only reads its gradient here
  h.product = {const_cast<Real*>(product.data), product.stride};
  return h;
}

}  // namespace

void attention_dot(Context& ctx, int heads, ConstMatrixView out, ConstMatrixView d_out, MatrixView dot) {
  const simd::HeadDot h = plain(heads, out, plain(d_out), dot);
  for_rows(ctx, out.rows, out.cols, [&](Index begin, Index end) { simd::loops().head_dot(h, begin, end); });
}

void head_dot(Context& ctx, int heads, ConstMatrixView z, const Real* a, MatrixView score) {
  const simd::HeadDot h = plain(heads, z, {a, 0}, score);
  for_rows(ctx, z.rows, z.cols, [&](Index begin, Index end) { simd::loops().head_dot(h, begin, end); });
}

void head_dot_backward(Context& ctx, int heads, ConstMatrixView z, const Real* a, ConstMatrixView d_score,
                       MatrixView d_z, Real* d_a) {
  simd::HeadDot h = plain(heads, z, {a, 0}, d_score);
  h.d_x = plain_out(d_z);
  const RowChunks chunks = few_chunks_of_rows(z.rows, z.cols);
  static constexpr ScratchKey kPartial;
  const MatrixView partial = ctx.workspace->matrix(kPartial, chunks.count(), z.cols);
  run_chunks(ctx, chunks.count(), [&](Index chunk) {
    std::fill_n(partial.row(chunk), z.cols, Real(0));
    simd::loops().head_dot_backward(h, partial.row(chunk), chunks.begin(chunk), chunks.end(chunk));
  });
  cpu::sum_rows(ctx, partial, d_a, true);
}

}  // namespace atl::cpu
