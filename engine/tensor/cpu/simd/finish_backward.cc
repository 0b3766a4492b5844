// Backward of finish.cc. The output y shows what the forward pass did: dropped and clipped elements are 0.
#include "tensor/activation.h"
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/mask.h"
#include "tensor/cpu/simd/stored.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

/// The gradient before dropout and activation, from the gradient after them (d) and their result (y).
inline Vec undo(Vec d, Vec y, const Mask& mask, Activation activation, std::uint64_t key, Index c) {
  const bool dropped = mask.threshold != 0;
  if (activation == Activation::kRelu) return y > Real(0) ? (dropped ? d * mask.scale : d) : Vec{};
  if (dropped) d = masked(d, key, std::uint32_t(c), mask.threshold, mask.scale);
  if (activation == Activation::kLeakyRelu) return y < Real(0) ? d * kLeakySlope : d;
  if (activation == Activation::kElu) return y < Real(0) ? d * (y / mask.scale + Real(1)) : d;
  return d;
}

/// The norm's part for a row's columns: x̂ = (pre + bias − mean) · rstd.
template <bool kMixed>
struct Norm {
  const FinishBackward& b;
  decltype(row_of<kMixed>(b.pre, 0)) pre;
  Real mean = 0, rstd = 1;

  Norm(const FinishBackward& backward, Index row)
      : b(backward), pre(row_of<kMixed>(backward.pre, backward.pre ? row : 0)) {
    if (!b.finish.layer_norm) return;
    if (b.finish.row_stats) {
      mean = b.finish.row_stats.row(row)[0];
      rstd = b.finish.row_stats.row(row)[1];
    } else {
      statistics();
    }
  }

  Vec input(Index c, int n) const {
    const Vec v = load(pre + c, n);
    return b.finish.bias == nullptr ? v : v + load(b.finish.bias + c, n);
  }
  Vec normalised(Index c, int n) const {
    if (b.finish.layer_norm) return (input(c, n) - mean) * rstd;
    return (input(c, n) - load(b.finish.col_mean + c, n)) * load(b.finish.col_rstd + c, n);
  }

 private:
  void statistics() {
    Vec total{};
    for_columns(0, b.cols, [&](Index c, int n) { total += input(c, n); });
    mean = sum_lanes(total) / Real(b.cols);
    Real squares = 0;
    for_columns(0, b.cols, [&](Index c, int n) {
      const Vec d = input(c, n) - mean;
      for (int i = 0; i < n; ++i) squares += d[i] * d[i];
    });
    rstd = Real(1) / Real(__builtin_sqrt(double(squares / Real(b.cols)) + kNormEpsilon));
  }
};

template <class To>
inline void add_to(To sums, Index c, int n, Vec v) {
  store(sums + c, load(sums + c, n) + v, n);
}
inline void add_to(Real* sums, Index c, int n, Vec v) {
  if (sums != nullptr) store(sums + c, load(sums + c, n) + v, n);
}

void clear(Real* sums, Index cols) {
  for (Index c = 0; sums != nullptr && c < cols; ++c) sums[c] = 0;
}

/// The second pass of a norm; dy holds the gradient at the norm's output, gain included.
template <bool kMixed, class Row>
void norm_row(const FinishBackward& b, const FinishSums& sums, const Norm<kMixed>& norm, Row dy, Real mean_d,
              Real mean_dx) {
  const Finish& f = b.finish;
  for_columns(0, b.cols, [&](Index c, int n) {
    const Vec d = load(dy + c, n), x = norm.normalised(c, n);
    Vec dx;
    if (f.layer_norm) {
      dx = (d - mean_d - x * mean_dx) * norm.rstd;
    } else {
      dx = (d - load(b.col_mean_dy + c, n) - x * load(b.col_mean_dyx + c, n)) * load(f.col_rstd + c, n);
    }
    store(dy + c, dx, n);
    add_to(sums.bias, c, n, dx);
  });
}

template <bool kMixed>
void backward_rows(const FinishBackward& b, const FinishSums& sums, Index begin, Index end) {
  const Finish& f = b.finish;
  const auto activation = Activation(f.activation);
  const bool norm_given = f.layer_norm || f.batch_norm;
  for (Index row = begin; row < end; ++row) {
    const Mask mask = of_row(f.mask, row);
    const std::uint64_t key = mask.threshold == 0 ? 0 : row_key(mask, row);
    const Norm<kMixed> norm(b, row);
    const auto dy = row_of<kMixed>(b.dy, row), d_residual = row_of<kMixed>(b.residual, b.residual ? row : 0);
    const auto y = row_of<kMixed>(b.y, row);
    Vec total_d{}, total_dx{};
    for_columns(0, b.cols, [&](Index c, int n) {
      Vec d = undo(load(dy + c, n), load(y + c, n), mask, activation, key, c);
      if (b.residual) add_to(d_residual, c, n, d * f.residual_scale);
      if (norm_given) {
        const Vec x = norm.normalised(c, n);
        add_to(sums.shift, c, n, d);
        add_to(sums.gain, c, n, d * x);
        if (f.gain != nullptr) d *= load(f.gain + c, n);
        total_d += d;
        total_dx += d * x;
      } else {
        add_to(sums.bias, c, n, d);
      }
      store(dy + c, d, n);
    });
    if (norm_given)
      norm_row(b, sums, norm, dy, sum_lanes(total_d) / Real(b.cols), sum_lanes(total_dx) / Real(b.cols));
  }
}

template <bool kMixed>
void norm_sums_of(const FinishBackward& b, double* sums, Index begin, Index end) {
  constexpr Index kPiece = 256;  // columns added to the double-precision sums at once
  const Finish& f = b.finish;
  const auto activation = Activation(f.activation);
  Real d_piece[kPiece + kLanes], dx_piece[kPiece + kLanes];
  for (Index row = begin; row < end; ++row) {
    const Mask mask = of_row(f.mask, row);
    const std::uint64_t key = mask.threshold == 0 ? 0 : row_key(mask, row);
    const Norm<kMixed> norm(b, row);
    const auto dy = row_of<kMixed>(b.dy, row);
    const auto y = row_of<kMixed>(b.y, row);
    for (Index first = 0; first < b.cols; first += kPiece) {
      const Index stop = first + kPiece < b.cols ? first + kPiece : b.cols;
      for_columns(first, stop, [&](Index c, int n) {
        Vec d = undo(load(dy + c, n), load(y + c, n), mask, activation, key, c);
        if (f.gain != nullptr) d *= load(f.gain + c, n);
        store(d_piece + c - first, d);
        store(dx_piece + c - first, d * norm.normalised(c, n));
      });
      for (Index c = first; c < stop; ++c) sums[c] += double(d_piece[c - first]);
      for (Index c = first; c < stop; ++c) sums[b.cols + c] += double(dx_piece[c - first]);
    }
  }
}

}  // namespace

void finish_backward(const FinishBackward& b, const FinishSums& sums, Index begin, Index end) {
  clear(sums.bias, b.cols);
  clear(sums.gain, b.cols);
  clear(sums.shift, b.cols);
  const auto rows = [&]<bool kMixed>() { backward_rows<kMixed>(b, sums, begin, end); };
  with_storage(rows, b.pre, b.y, b.dy, b.residual);
}

void norm_sums(const FinishBackward& b, double* sums, Index begin, Index end) {
  const auto rows = [&]<bool kMixed>() { norm_sums_of<kMixed>(b, sums, begin, end); };
  with_storage(rows, b.pre, b.y, b.dy);
}

}  // namespace atl::simd::ATOLL_LEVEL
