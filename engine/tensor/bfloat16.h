// Rounding to bfloat16, in which rows may be stored and sent at half the bytes. Values are rounded to
// nearest, ties to even; computations use full Reals. The rules of kernels.h hold for the operations below
// too.
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/context.h"

namespace atl {

/// Exact.
constexpr float to_float(Bfloat16 value) {
  return std::bit_cast<float>(std::uint32_t(value.bits) << 16);
}

/// A NaN stays one, whatever its lower half. Magnitudes above the largest bfloat16 become infinity.
constexpr Bfloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {std::uint16_t((is_nan ? bits | 0x400000u : rounded) >> 16)};
}

/// Rounds x (n, m), contiguous, in place. The result (n, m) is at the beginning of its memory.
void narrow_in_place(Context& ctx, MatrixView x);
/// The reverse: x's memory begins with the values that narrow_in_place left.
void widen_in_place(Context& ctx, MatrixView x);

}  // namespace atl
