// Backward of the epilogue. The gradients of gain and shift are sums over rows of the gradient at the norm's
// output; the bias's gradient is the sum of the gradient at the norm's input.
#include "tensor/cuda/finish.h"
#include "tensor/cuda/stored.h"
#include "tensor/cuda/sums.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// simd::FinishBackward, with layer norm's statistics if they are known.
using Backward = simd::FinishBackward;

template <bool kMixed>
__device__ Real input_of(const Backward& b, Index row, Index c) {
  const Real v = value_at<kMixed>(b.pre, row, c);
  return b.finish.bias == nullptr ? v : v + b.finish.bias[c];
}
__device__ RowNorm norm_of(const Backward& b, Index row) {
  if (!b.finish.layer_norm) return {};
  return {at(b.finish.row_stats, row, 0), at(b.finish.row_stats, row, 1)};
}
/// x̂, the normalised element before gain and shift.
template <bool kMixed>
__device__ Real normalised(const Backward& b, Index row, Index c, const RowNorm& norm) {
  if (b.finish.layer_norm) return (input_of<kMixed>(b, row, c) - norm.mean) * norm.rstd;
  return (input_of<kMixed>(b, row, c) - b.finish.col_mean[c]) * b.finish.col_rstd[c];
}
/// The gradient at the norm's output.
template <bool kMixed>
__device__ Real undone(const Backward& b, Index row, Index c, std::uint64_t key) {
  return cuda::undone(b.finish, value_at<kMixed>(b.dy, row, c), value_at<kMixed>(b.y, row, c), c, key);
}

constexpr ScratchKey kRowStats;

/// Computes layer norm's statistics if they weren't kept.
template <bool kMixed>
void find_row_stats(Context& ctx, Backward& b, Index rows) {
  const MatrixView stats = ctx.workspace->matrix(kRowStats, rows, 2);
  b.finish.row_stats = plain_out(stats);
  for_rows(ctx, rows, b.cols, [b] __device__(Index row, const Lanes& lanes) {
    const RowNorm norm = row_norm<kMixed>(b.pre, row, b.finish.bias, b.cols, lanes);
    if (lanes.lane > 0) return;
    at(b.finish.row_stats, row, 0) = norm.mean;
    at(b.finish.row_stats, row, 1) = norm.rstd;
  });
}

/// means (2, cols) = sums / count.
void find_means(Context& ctx, Backward& b, const double* sums, double count) {
  static constexpr ScratchKey kMeans;
  const MatrixView means = ctx.workspace->matrix(kMeans, 2, b.cols);
  b.col_mean_dy = means.row(0);
  b.col_mean_dyx = means.row(1);
  const Real share = Real(1 / count);
  for_items(ctx, 2 * b.cols, [=] __device__(Index i) { means.data[i] = Real(sums[i]) * share; });
}

template <bool kMixed>
void sum_gain_and_shift(Context& ctx, const Backward& b, Index rows, Real* gain, Real* shift) {
  sum_over_rows<2>(
      ctx, rows, b.cols,
      [=] __device__(Index r, Index c, double* to) {
        const Real d = undone<kMixed>(b, r, c, row_key(b.finish.mask, r));
        to[0] += double(d * normalised<kMixed>(b, r, c, norm_of(b, r)));
        to[1] += double(d);
      },
      [=] __device__(Index c, const double* from) {
        if (gain != nullptr) gain[c] += Real(from[0]);
        if (shift != nullptr) shift[c] += Real(from[1]);
      });
}

/// Adds to the residual's gradient, from the gradient d at the residual.
template <int V, bool kMixed>
__device__ void add_to_residual(const Backward& b, Index row, Index c, const Pack<V>& d) {
  if (!is_there<kMixed>(b.residual)) return;
  Pack<V> sum = load_reals<V, kMixed>(b.residual, row, c);
#pragma unroll
  for (int v = 0; v < V; ++v) sum.at[v] += d.at[v] * b.finish.residual_scale;
  store_reals<V, kMixed>(b.residual, row, c, sum);
}

/// Without layer norm elements are independent; V are done at a time.
template <int V, bool kMixed>
void undo_elements(Context& ctx, const Backward& b, Index rows) {
  for_rows(ctx, rows, b.cols / V, [b] __device__(Index row, const Lanes& lanes) {
    const simd::Finish& f = b.finish;
    const std::uint64_t key = row_key(f.mask, row);
    for (Index c = lanes.lane * V; c < b.cols; c += lanes.count * V) {
      Pack<V> dy = load_reals<V, kMixed>(b.dy, row, c);
      const Pack<V> y = load_reals<V, kMixed>(b.y, row, c);
#pragma unroll
      for (int v = 0; v < V; ++v) dy.at[v] = cuda::undone(f, dy.at[v], y.at[v], c + v, key);
      add_to_residual<V, kMixed>(b, row, c, dy);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        if (!f.batch_norm) break;
        Real d = dy.at[v];
        if (f.gain != nullptr) d *= f.gain[c + v];
        const Real x = normalised<kMixed>(b, row, c + v, {});
        dy.at[v] = (d - b.col_mean_dy[c + v] - x * b.col_mean_dyx[c + v]) * f.col_rstd[c + v];
      }
      store_reals<V, kMixed>(b.dy, row, c, dy);
    }
  });
}

/// Writes nothing before a row's means are known, so that values in halves are rounded once.
template <bool kMixed>
void undo_layer_norm(Context& ctx, const Backward& b, Index rows) {
  for_rows(ctx, rows, b.cols, [b] __device__(Index row, const Lanes& lanes) {
    const simd::Finish& f = b.finish;
    const std::uint64_t key = row_key(f.mask, row);
    const RowNorm norm = norm_of(b, row);
    Real total_d = 0, total_dx = 0;
    for (Index c = lanes.lane; c < b.cols; c += lanes.count) {
      Real d = undone<kMixed>(b, row, c, key);
      if (f.gain != nullptr) d *= f.gain[c];
      total_d += d;
      total_dx += d * normalised<kMixed>(b, row, c, norm);
    }
    const Real mean_d = lanes.sum(total_d) / Real(b.cols), mean_dx = lanes.sum(total_dx) / Real(b.cols);
    for (Index c = lanes.lane; c < b.cols; c += lanes.count) {
      Real d = undone<kMixed>(b, row, c, key);
      add_to_residual<1, kMixed>(b, row, c, {{d}});
      if (f.gain != nullptr) d *= f.gain[c];
      put_at<kMixed>(b.dy, row, c, (d - mean_d - normalised<kMixed>(b, row, c, norm) * mean_dx) * norm.rstd);
    }
  });
}

template <bool kMixed>
void undo(Context& ctx, Backward b, Index rows, const EpilogueGradient& gradient) {
  const simd::Finish& f = b.finish;
  const bool has_norm = f.layer_norm || f.batch_norm;
  if (f.layer_norm && !f.row_stats) find_row_stats<kMixed>(ctx, b, rows);
  if (has_norm && (gradient.gain != nullptr || gradient.shift != nullptr))
    sum_gain_and_shift<kMixed>(ctx, b, rows, gradient.gain, gradient.shift);
  const bool is_identity =
      !has_norm && !b.residual && f.mask.threshold == 0 && Activation(f.activation) == Activation::kNone;
  if (is_identity) return;
  if (f.layer_norm) return undo_layer_norm<kMixed>(ctx, b, rows);
  const auto fit = [&b](int V) {
    return in_packs(V, b.cols, b.dy, b.y) && (!b.residual || in_packs(V, b.cols, b.residual));
  };
  if constexpr (kMixed)
    if (fit(8)) return undo_elements<8, kMixed>(ctx, b, rows);
  fit(4) ? undo_elements<4, kMixed>(ctx, b, rows) : undo_elements<1, kMixed>(ctx, b, rows);
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
  if (b.finish.batch_norm) find_means(ctx, b, col_sums.data(), count);
  const bool mixed = any_halves(b.pre, b.y, b.dy, b.residual);
  mixed ? undo<true>(ctx, b, dy.rows, gradient) : undo<false>(ctx, b, dy.rows, gradient);
  if (gradient.bias != nullptr) cuda::sum_rows(ctx, dy, gradient.bias, true);
}

}  // namespace atl::cuda
