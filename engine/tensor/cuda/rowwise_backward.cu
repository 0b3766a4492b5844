// Backward of the epilogue: gradients of gain and shift are sums over rows of what comes before the norm's own backward, that of the
// bias a sum of what it leaves.
#include "tensor/cuda/finish.h"
#include "tensor/cuda/packs.h"
#include "tensor/cuda/sums.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// simd::FinishBackward, with the layer norm's statistics where they are known.
using Backward = simd::FinishBackward;

__device__ Real input_of(const Backward& b, Index row, Index c) {
  const Real v = at(b.pre, row, c);
  return b.finish.bias == nullptr ? v : v + b.finish.bias[c];
}
__device__ RowNorm norm_of(const Backward& b, Index row) {
  if (!b.finish.layer_norm) return {};
  return {at(b.finish.row_stats, row, 0), at(b.finish.row_stats, row, 1)};
}
/// x̂
__device__ Real normalised(const Backward& b, Index row, Index c, const RowNorm& norm) {
  if (b.finish.layer_norm) return (input_of(b, row, c) - norm.mean) * norm.rstd;
  return (input_of(b, row, c) - b.finish.col_mean[c]) * b.finish.col_rstd[c];
}
/// The gradient at the norm's output.
__device__ Real undone(const Backward& b, Index row, Index c, std::uint64_t key) {
  return cuda::undone(b.finish, at(b.dy, row, c), at(b.y, row, c), c, key);
}

/// Layer norm's statistics, where nobody kept them.
void find_row_stats(Context& ctx, Backward& b, Index rows) {
  const MatrixView stats = ctx.workspace->matrix("apply_backward.row_stats", rows, 2);
  b.finish.row_stats = plain_out(stats);
  for_rows(ctx, rows, b.cols, [b] __device__(Index row, const Lanes& lanes) {
    const RowNorm norm = row_norm(row_of(b.pre, row), b.finish.bias, b.cols, lanes);
    if (lanes.lane > 0) return;
    at(b.finish.row_stats, row, 0) = norm.mean;
    at(b.finish.row_stats, row, 1) = norm.rstd;
  });
}

/// means (2, cols) of as many sums.
void find_means(Context& ctx, Backward& b, const double* sums, double count) {
  const MatrixView means = ctx.workspace->matrix("apply_backward.means", 2, b.cols);
  b.col_mean_dy = means.row(0);
  b.col_mean_dyx = means.row(1);
  const Real share = Real(1 / count);
  for_items(ctx, 2 * b.cols, [=] __device__(Index i) { means.data[i] = Real(sums[i]) * share; });
}

void sum_gain_and_shift(Context& ctx, const Backward& b, Index rows, Real* gain, Real* shift) {
  sum_over_rows<2>(
      ctx, rows, b.cols,
      [=] __device__(Index r, Index c, double* to) {
        const Real d = undone(b, r, c, row_key(b.finish.mask, r));
        to[0] += double(d * normalised(b, r, c, norm_of(b, r)));
        to[1] += double(d);
      },
      [=] __device__(Index c, const double* from) {
        if (gain != nullptr) gain[c] += Real(from[0]);
        if (shift != nullptr) shift[c] += Real(from[1]);
      });
}

/// Without layer norm every element is its own, V of them at a time.
template <int V>
void undo_elements(Context& ctx, const Backward& b, Index rows) {
  for_rows(ctx, rows, b.cols / V, [b] __device__(Index row, const Lanes& lanes) {
    const simd::Finish& f = b.finish;
    const std::uint64_t key = row_key(f.mask, row);
    for (Index c = lanes.lane * V; c < b.cols; c += lanes.count * V) {
      Pack<V> dy = load_pack<V>(row_of(b.dy, row) + c);
      const Pack<V> y = load_pack<V>(row_of(b.y, row) + c);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        Real d = cuda::undone(f, dy.at[v], y.at[v], c + v, key);
        if (b.residual.data != nullptr) at(b.residual, row, c + v) += d * f.residual_scale;
        if (f.batch_norm) {
          if (f.gain != nullptr) d *= f.gain[c + v];
          d = (d - b.col_mean_dy[c + v] - normalised(b, row, c + v, {}) * b.col_mean_dyx[c + v]) *
              f.col_rstd[c + v];
        }
        dy.at[v] = d;
      }
      store_pack<V>(row_of(b.dy, row) + c, dy);
    }
  });
}

void undo_layer_norm(Context& ctx, const Backward& b, Index rows) {
  for_rows(ctx, rows, b.cols, [b] __device__(Index row, const Lanes& lanes) {
    const simd::Finish& f = b.finish;
    const std::uint64_t key = row_key(f.mask, row);
    const RowNorm norm = norm_of(b, row);
    Real* const dy = row_of(b.dy, row);
    Real total_d = 0, total_dx = 0;
    for (Index c = lanes.lane; c < b.cols; c += lanes.count) {
      Real d = undone(b, row, c, key);
      if (b.residual.data != nullptr) at(b.residual, row, c) += d * f.residual_scale;
      if (f.gain != nullptr) d *= f.gain[c];
      total_d += d;
      total_dx += d * normalised(b, row, c, norm);
      dy[c] = d;
    }
    const Real mean_d = lanes.sum(total_d) / Real(b.cols), mean_dx = lanes.sum(total_dx) / Real(b.cols);
    for (Index c = lanes.lane; c < b.cols; c += lanes.count)
      dy[c] = (dy[c] - mean_d - normalised(b, row, c, norm) * mean_dx) * norm.rstd;
  });
}

}  // namespace

void apply_backward(Context& ctx, const Epilogue& epilogue, ConstMatrixView pre, ConstMatrixView y,
                    MatrixView dy, const EpilogueGradient& gradient, std::span<const double> col_sums,
                    double count) {
  Backward b;
  b.finish = plain(epilogue);
  b.pre = plain(pre);
  b.y = plain(y);
  b.dy = plain_out(dy);
  b.residual = plain_out(gradient.residual);
  b.cols = dy.cols;
  const bool has_norm = b.finish.layer_norm || b.finish.batch_norm;
  if (b.finish.layer_norm && !b.finish.row_stats) find_row_stats(ctx, b, dy.rows);
  if (b.finish.batch_norm) find_means(ctx, b, col_sums.data(), count);
  if (has_norm && (gradient.gain != nullptr || gradient.shift != nullptr))
    sum_gain_and_shift(ctx, b, dy.rows, gradient.gain, gradient.shift);
  const bool is_identity =
      !has_norm && !b.residual && b.finish.mask.threshold == 0 && epilogue.activation == Activation::kNone;
  if (b.finish.layer_norm) {
    undo_layer_norm(ctx, b, dy.rows);
  } else if (!is_identity && in_fours(b.cols, {{b.dy.data, b.dy.stride}, {b.y.data, b.y.stride}})) {
    undo_elements<4>(ctx, b, dy.rows);
  } else if (!is_identity) {
    undo_elements<1>(ctx, b, dy.rows);
  }
  if (gradient.bias != nullptr) cuda::sum_rows(ctx, dy, gradient.bias, true);
}

}  // namespace atl::cuda
