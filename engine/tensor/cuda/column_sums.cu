// Sums over rows: those that batch norm needs of its columns, forward and backward, and gradients of a bias.
#include "tensor/cuda/finish.h"
#include "tensor/cuda/sums.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

template <bool kMixed>
void sum_values(Context& ctx, ConstMatrixView x, double* sums, const Real* weight) {
  const Index cols = x.cols;
  sum_over_rows<2>(
      ctx, x.rows, cols,
      [=] __device__(Index r, Index c, double* to) {
        const double value = double(value_at<kMixed>(x, r, c)),
                     weighted = weight == nullptr ? value : double(weight[r]) * value;
        to[0] += weighted;
        to[1] += weighted * value;
      },
      [=] __device__(Index c, const double* from) { sums[c] += from[0], sums[cols + c] += from[1]; });
}

template <bool kMixed>
void sum_gradients(Context& ctx, const simd::Finish& f, ConstMatrixView pre, ConstMatrixView y,
                   ConstMatrixView dy, double* sums) {
  const Index cols = dy.cols;
  sum_over_rows<2>(
      ctx, dy.rows, cols,
      [=] __device__(Index r, Index c, double* to) {
        Real d = undone(f, value_at<kMixed>(dy, r, c), value_at<kMixed>(y, r, c), c, row_key(f.mask, r));
        if (f.gain != nullptr) d *= f.gain[c];
        const Real value = value_at<kMixed>(pre, r, c), input = f.bias == nullptr ? value : value + f.bias[c];
        to[0] += double(d);
        to[1] += double(d * ((input - f.col_mean[c]) * f.col_rstd[c]));
      },
      [=] __device__(Index c, const double* from) { sums[c] += from[0], sums[cols + c] += from[1]; });
}

template <bool kMixed>
void sum_columns_of(Context& ctx, ConstMatrixView x, Real* out, bool accumulate) {
  sum_over_rows<1>(
      ctx, x.rows, x.cols,
      [=] __device__(Index r, Index c, double* to) { to[0] += double(value_at<kMixed>(x, r, c)); },
      [=] __device__(Index c, const double* from) {
        out[c] = Real(from[0]) + (accumulate ? out[c] : Real(0));
      });
}

}  // namespace

void column_sums(Context& ctx, ConstMatrixView x, double* sums, std::span<const Real> weights) {
  const Real* const weight = weights.empty() ? nullptr : weights.data();
  any_halves(x) ? sum_values<true>(ctx, x, sums, weight) : sum_values<false>(ctx, x, sums, weight);
}

void column_sums_backward(Context& ctx, const Epilogue& epilogue, ConstMatrixView pre, ConstMatrixView y,
                          ConstMatrixView dy, double* sums) {
  const simd::Finish f = plain(epilogue);
  if (any_halves(pre, y, dy)) return sum_gradients<true>(ctx, f, pre, y, dy, sums);
  sum_gradients<false>(ctx, f, pre, y, dy, sums);
}

void sum_rows(Context& ctx, ConstMatrixView x, Real* out, bool accumulate) {
  if (any_halves(x)) return sum_columns_of<true>(ctx, x, out, accumulate);
  sum_columns_of<false>(ctx, x, out, accumulate);
}

}  // namespace atl::cuda
