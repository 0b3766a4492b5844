// Products of rows head by head: attention's scores, and the product with the output that its backward pass
// needs.
#include "tensor/cpu/arguments.h"
#include "tensor/cuda/stored.h"
#include "tensor/cuda/sums.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// product[r, head] = <x[r, head], y[r, head]>, in packs of V. With a stride of 0 all rows have the same y.
template <int V>
void dots_of_packs(Context& ctx, int heads, simd::In x, simd::In y, MatrixView product, Index width) {
  for_rows(ctx, product.rows * heads, width / V, [=] __device__(Index item, const Lanes& lanes) {
    const Index row = item / heads, head = item % heads, stop = (head + 1) * width;
    Real sum = 0;
    for (Index c = head * width + lanes.lane * V; c < stop; c += lanes.count * V) {
      const Pack<V> a = load_reals<V, true>(x, row, c), b = load_reals<V, true>(y, row, c);
#pragma unroll
      for (int v = 0; v < V; ++v) sum += a.at[v] * b.at[v];
    }
    sum = lanes.sum(sum);
    if (lanes.lane == 0) at(product, row, head) = sum;
  });
}

void dots(Context& ctx, int heads, ConstMatrixView of, simd::In y, MatrixView product) {
  const Index width = of.cols / heads;
  const simd::In x = plain(of);
  if (in_packs(8, width, x, y)) return dots_of_packs<8>(ctx, heads, x, y, product, width);
  if (in_packs(4, width, x, y)) return dots_of_packs<4>(ctx, heads, x, y, product, width);
  dots_of_packs<1>(ctx, heads, x, y, product, width);
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
  for_elements(ctx, z.rows, z.cols, [=] __device__(Index row, Index c) {
    put_at(d_z, row, c, value_at(d_z, row, c) + a[c] * at(d_score, row, c / width));
  });
  sum_over_rows<1>(
      ctx, z.rows, z.cols,
      [=] __device__(Index row, Index c, double* to) {
        to[0] += double(value_at(z, row, c) * at(d_score, row, c / width));
      },
      [=] __device__(Index c, const double* from) { d_a[c] += Real(from[0]); });
}

}  // namespace atl::cuda
