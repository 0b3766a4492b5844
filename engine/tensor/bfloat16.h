// Rounding to bfloat16: how rows may cross between ranks, and be stored, at half the bytes. Values are
// rounded to nearest, ties to even; what is computed with is whole again. What kernels.h says of all
// operations holds for those below.
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/context.h"

namespace atl {

/// Exact.
constexpr float to_float(Bfloat16 value) {
  return std::bit_cast<float>(std::uint32_t(value.bits) << 16);
}

/// A NaN stays one, whatever its lower half; magnitudes above the largest become infinity.
constexpr Bfloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {std::uint16_t((is_nan ? bits | 0x400000u : rounded) >> 16)};
}

/// Rounds x (n, m), contiguous, in place: the result (n, m) lies at the beginning of its memory.
void narrow_in_place(Context& ctx, MatrixView x);
/// The way back: x's memory begins with its values as narrow_in_place leaves them.
void widen_in_place(Context& ctx, MatrixView x);

}  // namespace atl
