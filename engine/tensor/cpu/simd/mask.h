// Dropout masks a register at a time. They repeat the draws of base/random.h for vectors; tests compare the
// two.
#pragma once

#include "tensor/cpu/simd/loops.h"
#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {

inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

inline std::uint32_t mix32(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}

inline Bits mix32(Bits x) {
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}

/// Draws::row_key.
inline std::uint64_t row_key(std::uint64_t key, VertexId id) {
  return mix64(key ^ (std::uint64_t(id) * 0xd1342543de82ef95ull));
}

/// The key of the draws of a masked row, whose columns count from mask.first_column on. Draws::bits counts
/// columns in the whole row, and the mask may have only some of them.
inline std::uint64_t row_key(const Mask& mask, Index row) {
  const std::uint64_t key = row_key(mask.key, mask.ids[row]);
  return (key >> 32 << 32) | std::uint32_t(std::uint32_t(key) + mask.first_column * 0x9e3779b9u);
}

/// The mask in one row: none if the row isn't among the mask's, otherwise the same for all rows.
inline Mask of_row(const Mask& mask, Index row) {
  return mask.has(row) ? mask : Mask{};
}

/// Draws::bits of one column.
inline std::uint32_t draw(std::uint64_t key, std::uint32_t column) {
  return mix32(std::uint32_t(key) + column * 0x9e3779b9u) ^ std::uint32_t(key >> 32);
}

/// Draws::bits of kLanes columns from `column` on.
inline Bits draw_lanes(std::uint64_t key, std::uint32_t column) {
  Bits lane{};
  for (int i = 0; i < kLanes; ++i) lane[i] = std::uint32_t(i);
  return mix32((lane + column) * 0x9e3779b9u + std::uint32_t(key)) ^ std::uint32_t(key >> 32);
}

/// v · scale if the element's bits keep it, 0 if they drop it.
inline Vec keep_drawn(Vec v, Bits bits, std::uint32_t threshold, Real scale) {
  const IntVec keep = __builtin_convertvector(BitsMask(bits >= threshold), IntVec);
  return keep ? v * scale : Vec{};
}

/// The same with the draws of kLanes columns.
inline Vec masked(Vec v, std::uint64_t key, std::uint32_t column, std::uint32_t threshold, Real scale) {
  return keep_drawn(v, draw_lanes(key, column), threshold, scale);
}

}  // namespace atl::simd::ATOLL_LEVEL
