// The processor's registers for products of halves (AMX): tiles of 16 rows of 16 words, where a word is two
// adjacent values of the inner dimension. One instruction adds the product of two tiles, 16 × 32 and 32 × 16
// values, to a tile of 16 × 16 sums in float32. Two by two tiles of sums stay in registers, so that each tile
// that is loaded is multiplied twice.
//
// The instructions name tiles by numbers: 0 to 3 hold sums, 4 and 5 the tall operand, 6 and 7 the small one.
#pragma once

#include "tensor/cpu/simd/panels.h"
#include "tensor/cpu/simd/vec.h"

#if defined(__AVX512F__) && !defined(ATOLL_REAL_DOUBLE) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16")

namespace atl::simd::ATOLL_LEVEL {

inline constexpr Index kSide = 16;                  // rows of a tile, and words of a row
inline constexpr Index kTileWords = kSide * kSide;  // of a tile
inline constexpr Index kTileInner = 2 * kSide;      // inner values
inline constexpr Index kTwoTiles = 2 * kSide;       // rows, or columns, of two tiles
inline constexpr Index kTileRowBytes = kSide * 4, kTileBytes = kTileWords * 4;  // of a tile

constexpr Index tiles_of(Index values, Index in_tile) {
  return (values + in_tile - 1) / in_tile;
}

/// Sets the shapes of all tiles, which hold until release(). A destructor would need the symbols of
/// exceptions, and object files of these loops may not have any (vec.h).
class Tiles {
 public:
  /// Call it last: the system switches threads faster if they have no tiles.
  void release() { _tile_release(); }

  /// Shapes the tiles for sums of `rows` rows and `cols` columns, each at most kTwoTiles.
  void shape(Index rows, Index cols) {
    if (rows == rows_ && cols == cols_) return;
    rows_ = rows, cols_ = cols;
    Shapes shapes;
    const Index high[2] = {smaller(rows, kSide), rows - smaller(rows, kSide)},
                wide[2] = {smaller(cols, kSide), cols - smaller(cols, kSide)};
    for (int r = 0; r < 2; ++r) {
      shapes.set(4 + r, high[r], kSide);
      shapes.set(6 + r, kSide, wide[r]);
      for (int c = 0; c < 2; ++c) shapes.set(2 * r + c, high[r], wide[c]);
    }
    asm volatile("" : "+m"(shapes));  // GCC 12 believes that the instruction reads eight bytes
    _tile_loadconfig(&shapes);
  }

 private:
  struct alignas(64) Shapes {  // as the processor reads them
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
    void set(int tile, Index high, Index words) {
      if (high <= 0 || words <= 0) return;
      rows[tile] = std::uint8_t(high);
      row_bytes[tile] = std::uint16_t(4 * words);
    }
  };
  Index rows_ = 0, cols_ = 0;
};

/// Calls f with two constants: whether sums have a second tile of rows, and whether they have a second one of
/// columns.
template <class F>
inline __attribute__((always_inline)) void with_tiles(Index rows, Index cols, F f) {
  const bool tall = rows > kSide, wide = cols > kSide;
  if (tall && wide) return f(Count<1>{}, Count<1>{});
  if (tall) return f(Count<1>{}, Count<0>{});
  if (wide) return f(Count<0>{}, Count<1>{});
  f(Count<0>{}, Count<0>{});
}

template <bool tall, bool wide>
inline __attribute__((always_inline)) void begin_sums(const Real* out, Index stride, bool accumulate) {
  const Index bytes = stride * Index(sizeof(Real));
  if (!accumulate) {
    _tile_zero(0);
    if constexpr (wide) _tile_zero(1);
    if constexpr (tall) _tile_zero(2);
    if constexpr (tall && wide) _tile_zero(3);
    return;
  }
  _tile_loadd(0, out, bytes);
  if constexpr (wide) _tile_loadd(1, out + kSide, bytes);
  if constexpr (tall) _tile_loadd(2, out + kSide * stride, bytes);
  if constexpr (tall && wide) _tile_loadd(3, out + kSide * stride + kSide, bytes);
}

template <bool tall, bool wide>
inline __attribute__((always_inline)) void end_sums(Real* out, Index stride) {
  const Index bytes = stride * Index(sizeof(Real));
  _tile_stored(0, out, bytes);
  if constexpr (wide) _tile_stored(1, out + kSide, bytes);
  if constexpr (tall) _tile_stored(2, out + kSide * stride, bytes);
  if constexpr (tall && wide) _tile_stored(3, out + kSide * stride + kSide, bytes);
}

/// Where an operand's tiles lie, in bytes: from a row to the next, from an inner tile to the next, and from a
/// tile to the second one, of rows or of columns.
struct Operand {
  const void* at;
  Index row, step, second;
};

template <bool tall, bool wide>
inline __attribute__((always_inline)) void add_products(const Operand& a, const Operand& b, Index count) {
  const char *of_a = static_cast<const char*>(a.at), *of_b = static_cast<const char*>(b.at);
  for (Index i = 0; i < count; ++i, of_a += a.step, of_b += b.step) {
    _tile_loadd(6, of_b, b.row);
    _tile_loadd(4, of_a, a.row);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (wide) {
      _tile_loadd(7, of_b + b.second, b.row);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (tall) {
      _tile_loadd(5, of_a + a.second, a.row);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (wide) _tile_dpbf16ps(3, 5, 7);
    }
  }
}

/// A compiler doesn't see what the instructions read. After this call, all that was written before it is in
/// memory.
inline void finish_writes() {
  asm volatile("" ::: "memory");
}

}  // namespace atl::simd::ATOLL_LEVEL
#pragma GCC pop_options
#endif
