// The operations after a product, row by row while it is in cache: bias, norm, residual, activation, dropout.
#include "tensor/activation.h"
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/mask.h"
#include "tensor/cpu/simd/stored.h"
#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

inline Vec activate(Vec v, Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return v < Real(0) ? Vec{} : v;  // passes NaN on
    case Activation::kElu:
      return v < Real(0) ? exp(v) - Real(1) : v;
    case Activation::kLeakyRelu:
      return v < Real(0) ? v * kLeakySlope : v;
    case Activation::kNone:
      break;
  }
  return v;
}

/// Mean and 1/σ of a row plus bias, in two passes over a row that is in cache.
template <class Row>
void layer_statistics(const Finish& f, Row y, Index cols, Real& mean, Real& rstd) {
  const auto value = [&](Index c, int n) {
    return f.bias == nullptr ? load(y + c, n) : load(y + c, n) + load(f.bias + c, n);
  };
  Vec total{};
  for_columns(0, cols, [&](Index c, int n) { total += value(c, n); });
  mean = sum_lanes(total) / Real(cols);
  Real squares = 0;
  Vec deviations{};
  for_columns(0, cols, [&](Index c, int n) {
    const Vec d = value(c, n) - mean;
    if (n == kLanes) {
      deviations += d * d;
    } else {
      for (int i = 0; i < n; ++i) squares += d[i] * d[i];
    }
  });
  squares += sum_lanes(deviations);
  rstd = Real(1) / Real(__builtin_sqrt(double(squares / Real(cols)) + kNormEpsilon));
}

template <bool kMixed>
void finish_rows(const Finish& f, Out y, Index begin, Index end, Index col_begin, Index col_end) {
  const auto activation = Activation(f.activation);
  for (Index row = begin; row < end; ++row) {
    const auto out = row_of<kMixed>(y, row);
    const auto residual = row_of<kMixed>(f.residual, row);
    Real mean = 0, rstd = 1;
    if (f.layer_norm) {
      layer_statistics(f, out, col_end, mean, rstd);
      if (f.row_stats) f.row_stats.row(row)[0] = mean, f.row_stats.row(row)[1] = rstd;
    }
    const Mask mask = of_row(f.mask, row);
    const std::uint64_t key = mask.threshold == 0 ? 0 : row_key(mask, row);
    for_columns(col_begin, col_end, [&](Index c, int n) {
      Vec v = load(out + c, n);
      if (f.bias != nullptr) v += load(f.bias + c, n);
      if (f.layer_norm) v = (v - mean) * rstd;
      if (f.batch_norm) v = (v - load(f.col_mean + c, n)) * load(f.col_rstd + c, n);
      if (f.gain != nullptr) v *= load(f.gain + c, n);
      if (f.shift != nullptr) v += load(f.shift + c, n);
      if (f.residual) v += load(residual + c, n) * f.residual_scale;
      v = activate(v, activation);
      if (mask.threshold != 0) v = masked(v, key, std::uint32_t(c), mask.threshold, mask.scale);
      store(out + c, v, n);
    });
  }
}

}  // namespace

void finish(const Finish& f, Out y, Index begin, Index end, Index col_begin, Index col_end) {
  const auto rows = [&]<bool kMixed>() { finish_rows<kMixed>(f, y, begin, end, col_begin, col_end); };
  with_storage(rows, y, f.residual);
}

}  // namespace atl::simd::ATOLL_LEVEL
