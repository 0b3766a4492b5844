// IEEE 754 half precision as stored in files: conversion by bits, the same on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace atl {

/// Two bytes of a float16 file.
struct Half {
  std::uint16_t bits = 0;
};

/// Largest finite half.
inline constexpr float kMaxHalf = 65504.0f;

/// Exact, denormals, infinities and NaN included.
constexpr float to_float(Half half) {
  const std::uint32_t sign = std::uint32_t(half.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = std::uint32_t(half.bits & 0x7fffu) << 13;
  const std::uint32_t scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1.0p112f);
  const std::uint32_t special =
      magnitude >= 0x0f800000u ? 0x7f800000u : 0u;  // infinity and NaN keep their exponent
  return std::bit_cast<float>(sign | scaled | special);
}

/// Rounds to nearest, ties to even; magnitudes above kMaxHalf become infinity.
constexpr Half to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint16_t sign = std::uint16_t((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {std::uint16_t(sign | 0x7e00u)};
  if (magnitude >= 0x477ff000u) return {std::uint16_t(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) {  // denormal: adding 1/2 lets the float adder round at the half's last bit
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {std::uint16_t(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u))};
  }
  const std::uint32_t rounded = magnitude + 0x0fffu + ((magnitude >> 13) & 1u);
  return {std::uint16_t(sign | ((rounded - 0x38000000u) >> 13))};
}

}  // namespace atl
