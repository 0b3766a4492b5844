// Features as bits: feature_bits.npy, uint8 (vertices, 4 · ⌈columns / 32⌉), column c being bit c % 8 of byte c / 8, and
// feature_levels.npy, float32 (vertices), what a row's ones stand for.
#pragma once

#include <filesystem>
#include <span>

#include "base/types.h"

namespace atl {

/// True if all values but zeros are the same. Zeros alone are too.
bool one_valued(std::span<const float> row);

/// Turns features.npy of the folder, all of whose `rows` are one-valued, into bits; returns the number of ones. Memory: a
/// few rows.
Index dense_to_bits(const std::filesystem::path& folder, Index rows, Index columns);

/// Turns a row of bits into values, (columns).
template <class T>
void expand_bits(const std::uint8_t* bits, float level, Index columns, T* out) {
  for (Index c = 0; c < columns; ++c) out[c] = (bits[c / 8] >> (c % 8) & 1) != 0 ? T(level) : T(0);
}

}  // namespace atl
