// The operations after a product, element by element: bias, norm, residual, activation, dropout. They have
// the CPU's order (tensor/cpu/simd/finish.cc) and draws. Their backward pass is here too.
#pragma once

#include "base/random.h"
#include "tensor/activation.h"
#include "tensor/cpu/arguments.h"
#include "tensor/cuda/launch.h"

namespace atl::cuda {

/// Draws::row_key.
__device__ inline std::uint64_t row_key(std::uint64_t key, VertexId id) {
  return mix64(key ^ (std::uint64_t(id) * 0xd1342543de82ef95ull));
}

/// The key of a masked row's draws; 0 if nothing in the row is masked.
__device__ inline std::uint64_t row_key(const simd::Mask& mask, Index row) {
  if (mask.threshold == 0 || row < mask.begin || row >= mask.end) return 0;
  const std::uint64_t key = row_key(mask.key, mask.ids[row]);
  return (key >> 32 << 32) | std::uint32_t(std::uint32_t(key) + mask.first_column * 0x9e3779b9u);
}

/// The value, scaled if column c's draw keeps it, 0 if it doesn't.
__device__ inline Real masked(Real value, std::uint64_t key, Index c, const simd::Mask& mask) {
  return Draws::bits(key, std::uint32_t(c)) >= mask.threshold ? value * mask.scale : Real(0);
}

__device__ inline Real activate(Real v, int activation) {
  if (v >= Real(0)) return v;
  switch (Activation(activation)) {
    case Activation::kRelu:
      return v < Real(0) ? Real(0) : v;  // NaN passes
    case Activation::kElu:
      return exp(v) - Real(1);
    case Activation::kLeakyRelu:
      return v * kLeakySlope;
    case Activation::kNone:
      break;
  }
  return v;
}

/// The statistics of a row's layer norm.
struct RowNorm {
  Real mean = 0, rstd = 1;
};

/// The finish of element (row, c); kMixed as value_at.
template <bool kMixed = false>
__device__ Real finished(const simd::Finish& f, Real v, Index row, Index c, std::uint64_t key,
                         RowNorm norm = {}) {
  if (f.bias != nullptr) v += f.bias[c];
  if (f.layer_norm) v = (v - norm.mean) * norm.rstd;
  if (f.batch_norm) v = (v - f.col_mean[c]) * f.col_rstd[c];
  if (f.gain != nullptr) v *= f.gain[c];
  if (f.shift != nullptr) v += f.shift[c];
  if (is_there<kMixed>(f.residual)) v += value_at<kMixed>(f.residual, row, c) * f.residual_scale;
  v = activate(v, f.activation);
  return key != 0 ? masked(v, key, c, f.mask) : v;
}

/// The gradient before dropout and activation, from the gradient after them (d) and their result (y).
__device__ inline Real undone(const simd::Finish& f, Real d, Real y, Index c, std::uint64_t key) {
  const bool dropped = key != 0;
  const auto activation = Activation(f.activation);
  if (activation == Activation::kRelu) return y > Real(0) ? (dropped ? d * f.mask.scale : d) : Real(0);
  if (dropped) d = masked(d, key, c, f.mask);
  if (activation == Activation::kLeakyRelu) return y < Real(0) ? d * kLeakySlope : d;
  if (activation == Activation::kElu)
    return y < Real(0) ? d * (y / (dropped ? f.mask.scale : Real(1)) + Real(1)) : d;
  return d;
}

/// Mean and 1/σ of pre + bias over a row's columns, computed by its lanes in two passes.
template <bool kMixed>
__device__ RowNorm row_norm(const simd::In& pre, Index row, const Real* bias, Index cols,
                            const Lanes& lanes) {
  const auto value = [&](Index c) {
    const Real v = value_at<kMixed>(pre, row, c);
    return bias == nullptr ? v : v + bias[c];
  };
  Real total = 0, squares = 0;
  for (Index c = lanes.lane; c < cols; c += lanes.count) total += value(c);
  const Real mean = lanes.sum(total) / Real(cols);
  for (Index c = lanes.lane; c < cols; c += lanes.count) squares += (value(c) - mean) * (value(c) - mean);
  return {mean, Real(1 / sqrt(double(lanes.sum(squares) / Real(cols)) + kNormEpsilon))};
}

/// y ← finish(x), each (rows, cols); y may be x. rowwise.cu
void finish_rows(Context& ctx, const simd::Finish& finish, simd::In x, simd::Out y, Index rows, Index cols);

}  // namespace atl::cuda
