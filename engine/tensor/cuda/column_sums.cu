// Sums over rows: what batch norm needs of its columns, there and back, and gradients of a bias.
#include "tensor/cuda/finish.h"
#include "tensor/cuda/sums.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {

void column_sums(Context& ctx, ConstMatrixView x, double* sums, std::span<const Real> weights) {
  const Real* const weight = weights.empty() ? nullptr : weights.data();
  const Index cols = x.cols;
  sum_over_rows<2>(
      ctx, x.rows, cols,
      [=] __device__(Index r, Index c, double* to) {
        const double value = double(at(x, r, c)),
                     weighted = weight == nullptr ? value : double(weight[r]) * value;
        to[0] += weighted;
        to[1] += weighted * value;
      },
      [=] __device__(Index c, const double* from) { sums[c] += from[0], sums[cols + c] += from[1]; });
}

void column_sums_backward(Context& ctx, const Epilogue& epilogue, ConstMatrixView pre, ConstMatrixView y,
                          ConstMatrixView dy, double* sums) {
  const simd::Finish f = plain(epilogue);
  const Index cols = dy.cols;
  sum_over_rows<2>(
      ctx, dy.rows, cols,
      [=] __device__(Index r, Index c, double* to) {
        Real d = undone(f, at(dy, r, c), at(y, r, c), c, row_key(f.mask, r));
        if (f.gain != nullptr) d *= f.gain[c];
        const Real input = f.bias == nullptr ? at(pre, r, c) : at(pre, r, c) + f.bias[c];
        to[0] += double(d);
        to[1] += double(d * ((input - f.col_mean[c]) * f.col_rstd[c]));
      },
      [=] __device__(Index c, const double* from) { sums[c] += from[0], sums[cols + c] += from[1]; });
}

void sum_rows(Context& ctx, ConstMatrixView x, Real* out, bool accumulate) {
  sum_over_rows<1>(
      ctx, x.rows, x.cols, [=] __device__(Index r, Index c, double* to) { to[0] += double(at(x, r, c)); },
      [=] __device__(Index c, const double* from) {
        out[c] = Real(from[0]) + (accumulate ? out[c] : Real(0));
      });
}

}  // namespace atl::cuda
