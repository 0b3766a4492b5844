// Products of rows head by head: attention's scores and what its backward pass needs of the output.
#include "tensor/cpu/arguments.h"
#include "tensor/cuda/sums.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// product[r, head] = <x[r, head], y[r, head]>; a stride of 0 gives every row the same y.
void dots(Context& ctx, int heads, ConstMatrixView x, simd::In y, MatrixView product) {
  const Index width = x.cols / heads;
  for_rows(ctx, x.rows * heads, width, [=] __device__(Index item, const Lanes& lanes) {
    const Index row = item / heads, head = item % heads;
    const Real* const a = row_of(x, row) + head * width;
    const Real* const b = row_of(y, row) + head * width;
    Real sum = 0;
    for (Index c = lanes.lane; c < width; c += lanes.count) sum += a[c] * b[c];
    sum = lanes.sum(sum);
    if (lanes.lane == 0) at(product, row, head) = sum;
  });
}

}  // namespace

void attention_dot(Context& ctx, int heads, ConstMatrixView out, ConstMatrixView d_out, MatrixView dot) {
  dots(ctx, heads, out, plain(d_out), dot);
}

void head_dot(Context& ctx, int heads, ConstMatrixView z, const Real* a, MatrixView score) {
  dots(ctx, heads, z, {a, 0}, score);
}

void head_dot_backward(Context& ctx, int heads, ConstMatrixView z, const Real* a, ConstMatrixView d_score,
                       MatrixView d_z, Real* d_a) {
  const Index width = z.cols / heads;
  if (width == 0) return;
  for_elements(ctx, z.rows, z.cols,
               [=] __device__(Index row, Index c) { at(d_z, row, c) += a[c] * at(d_score, row, c / width); });
  sum_over_rows<1>(
      ctx, z.rows, z.cols,
      [=] __device__(Index row, Index c, double* to) {
        to[0] += double(at(z, row, c) * at(d_score, row, c / width));
      },
      [=] __device__(Index c, const double* from) { d_a[c] += Real(from[0]); });
}

}  // namespace atl::cuda
