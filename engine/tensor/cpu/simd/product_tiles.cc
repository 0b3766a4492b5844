// Dense products of matrices in halves on processors that multiply tiles (AMX). The small operand is packed
// tile after tile: two tiles of columns, for all inner values, then the next two.
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/pairs.h"
#include "tensor/cpu/simd/panels.h"
#include "tensor/cpu/simd/tiles.h"

#if defined(__AVX512F__) && !defined(ATOLL_REAL_DOUBLE) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16")
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12's own headers cause it

namespace atl::simd::ATOLL_LEVEL {
namespace {

constexpr Index kBlockRows = 256;  // rows that are read again from the second-level cache
constexpr Index kBlockTiles = 32;  // inner tiles of such rows
// tiles along product_at_tiles' inner dimension, in a block
constexpr Index kRowTiles = kPairedRows / kTileInner;

/// Copies of the last inner values of rows, filled up with zeros to a whole tile. The memory behind them
/// belongs to other rows or to nobody, and could hold a NaN.
struct Ends {
  alignas(64) Bfloat16 rows[kBlockRows][kTileInner];

  Ends() {}  // most rows have none
  void copy(In a, Index begin, Index end, Index first, Index count) {
    const auto mask = __mmask32((1u << count) - 1);  // count < kTileInner
    for (Index row = begin; row < end; ++row) {
      const __m512i values = _mm512_maskz_loadu_epi16(mask, a.halves + row * a.stride + first);
      _mm512_store_si512(rows[row - begin], values);
    }
  }
  Operand from(Index row) const { return {rows[row], kTileRowBytes, 0, kTileBytes}; }
};

/// A block of rows, at most kBlockRows, for inner tiles [first, last).
struct Block {
  const ProductPairs& p;
  Index begin, end, first, last;
  Ends ends;

  Index whole() const { return smaller(last, p.inner / kTileInner); }

  /// Does columns [from, to). The rows of two tiles stay in the first-level cache for all columns.
  void multiply(Tiles& tiles, Index from, Index to) const {
    for (Index row = begin; row < end; row += kTwoTiles) {
      const Index rows = smaller(kTwoTiles, end - row);
      for (Index column = from; column < to; column += kTwoTiles) {
        const Index cols = smaller(kTwoTiles, to - column);
        tiles.shape(rows, cols);
        with_tiles(rows, cols, [&](auto tall, auto wide) { add<tall.value, wide.value>(row, column); });
      }
    }
  }

 private:
  template <bool tall, bool wide>
  inline __attribute__((always_inline)) void add(Index row, Index column) const {
    constexpr Index kWidth = wide ? 2 : 1;
    const Index all = tiles_of(p.inner, kTileInner), stride = p.a.stride * Index(sizeof(Bfloat16));
    const std::uint32_t* const b = p.panels + (column / kSide * all + first * kWidth) * kTileWords;
    const Operand a{p.a.halves + row * p.a.stride + first * kTileInner, stride, kTileRowBytes,
                    kSide * stride};
    Real* const out = p.out.row(row) + column;
    begin_sums<tall, wide>(out, p.out.stride, p.accumulate || first > 0);
    add_products<tall, wide>(a, {b, kTileRowBytes, kWidth * kTileBytes, kTileBytes}, whole() - first);
    if (whole() < last) {
      const std::uint32_t* const behind = b + (whole() - first) * kWidth * kTileWords;
      add_products<tall, wide>(ends.from(row - begin), {behind, kTileRowBytes, 0, kTileBytes}, 1);
    }
    end_sums<tall, wide>(out, p.out.stride);
  }
};

void multiply_block(Tiles& tiles, Block& block) {
  const ProductPairs& p = block.p;
  if (block.whole() < block.last)
    block.ends.copy(p.a, block.begin, block.end, block.whole() * kTileInner, p.inner % kTileInner);
  finish_writes();
  const Index even = p.cols / kTwoTiles * kTwoTiles;  // tiles then change their shape once
  block.multiply(tiles, 0, even);
  block.multiply(tiles, even, p.cols);
}

/// Transposes 16 × 16 words, whose rows are kTwoTiles words apart. First it interleaves rows, then pairs of
/// rows, both within 128-bit parts; then it moves the parts.
void transpose(const std::uint32_t* from, std::uint32_t* to) {
  __m512i row[kSide], two[kSide], four[kSide];
  for (int i = 0; i < kSide; ++i) row[i] = _mm512_loadu_si512(from + i * kTwoTiles);
  for (int i = 0; i < kSide; i += 2) {
    two[i] = _mm512_unpacklo_epi32(row[i], row[i + 1]);
    two[i + 1] = _mm512_unpackhi_epi32(row[i], row[i + 1]);
  }
  for (int i = 0; i < kSide; i += 4) {
    for (int j = 0; j < 2; ++j) {
      four[i + 2 * j] = _mm512_unpacklo_epi64(two[i + j], two[i + j + 2]);
      four[i + 2 * j + 1] = _mm512_unpackhi_epi64(two[i + j], two[i + j + 2]);
    }
  }
  for (int j = 0; j < 4; ++j) {  // four[4g + j] has columns j, 4 + j, 8 + j and 12 + j of rows 4g to 4g + 3
    const __m512i even_above = _mm512_shuffle_i32x4(four[j], four[4 + j], 0x88),
                  even_below = _mm512_shuffle_i32x4(four[8 + j], four[12 + j], 0x88),
                  odd_above = _mm512_shuffle_i32x4(four[j], four[4 + j], 0xdd),
                  odd_below = _mm512_shuffle_i32x4(four[8 + j], four[12 + j], 0xdd);
    _mm512_storeu_si512(to + j * kSide, _mm512_shuffle_i32x4(even_above, even_below, 0x88));
    _mm512_storeu_si512(to + (4 + j) * kSide, _mm512_shuffle_i32x4(odd_above, odd_below, 0x88));
    _mm512_storeu_si512(to + (8 + j) * kSide, _mm512_shuffle_i32x4(even_above, even_below, 0xdd));
    _mm512_storeu_si512(to + (12 + j) * kSide, _mm512_shuffle_i32x4(odd_above, odd_below, 0xdd));
  }
}

/// Rows of a matrix in pairs: two tiles of columns side by side, for kPairedRows rows.
struct Pairs {
  alignas(kBytes) std::uint32_t words[kRowTiles * kSide * kTwoTiles];

  /// Reads rows [begin, end), and fills up with zeros to `count` tiles.
  void read(In m, Index begin, Index end, Index column, Index cols, Index count) {
    interleave(m, begin, end, column, cols, kTwoTiles, words);
    for (Index word = (end - begin + 1) / 2 * kTwoTiles; word < count * kSide * kTwoTiles; ++word)
      words[word] = 0;
  }
  const std::uint32_t* tile(Index inner, Index column) const {
    return words + inner * kSide * kTwoTiles + column * kSide;
  }
};

/// Does rows [begin, end) of a and b, at most kPairedRows, for all of out. p.words gets aᵀ in tiles.
void multiply_at(const ProductAtPairs& p, Tiles& tiles, Index begin, Index end, bool accumulate) {
  const Index count = tiles_of(end - begin, kTileInner);
  constexpr Index kColumnWords = kRowTiles * kTileWords;  // of aᵀ's tiles for 16 of a's columns
  Pairs pairs;
  for (Index k = 0; k < p.a_cols; k += kSide) {
    if (k % kTwoTiles == 0) pairs.read(p.a, begin, end, k, p.a_cols - k, count);
    for (Index i = 0; i < count; ++i)
      transpose(pairs.tile(i, k / kSide % 2), p.words + k / kSide * kColumnWords + i * kTileWords);
  }
  for (Index column = 0; column < p.b_cols; column += kTwoTiles) {
    const Index cols = smaller(kTwoTiles, p.b_cols - column);
    pairs.read(p.b, begin, end, column, cols, count);
    const Operand b{pairs.words, kTwoTiles * 4, kSide * kTwoTiles * 4, kTileRowBytes};
    finish_writes();
    for (Index k = 0; k < p.a_cols; k += kTwoTiles) {
      const Index rows = smaller(kTwoTiles, p.a_cols - k);
      const Operand a{p.words + k / kSide * kColumnWords, kTileRowBytes, kTileBytes, kColumnWords * 4};
      tiles.shape(rows, cols);
      with_tiles(rows, cols, [&](auto tall, auto wide) {
        Real* const out = p.out.row(k) + column;
        begin_sums<tall.value, wide.value>(out, p.out.stride, accumulate);
        add_products<tall.value, wide.value>(a, b, count);
        end_sums<tall.value, wide.value>(out, p.out.stride);
      });
    }
  }
}

Index tile_words(Index inner, Index cols) {
  return tiles_of(inner, kTileInner) * tiles_of(cols, kSide) * kTileWords;
}

void pack_tiles(In w, bool transposed, Index inner, Index cols, std::uint32_t* to) {
  const Elements elements{w, transposed, inner, cols};
  const Index all = tiles_of(inner, kTileInner);
  for (Index column = 0; column < cols; column += kTwoTiles) {
    const Index width = tiles_of(smaller(kTwoTiles, cols - column), kSide);
    for (Index tile = 0; tile < all * width; ++tile, to += kTileWords)
      for (Index word = 0; word < kTileWords; ++word)
        to[word] = elements.pair(tile / width * kTileInner + word / kSide * 2,
                                 column + tile % width * kSide + word % kSide);
  }
}

void product_tiles(const ProductPairs& p, Index begin, Index end) {
  const Index all = larger(1, tiles_of(p.inner, kTileInner));
  Tiles tiles;
  for (Index row = begin; row < end; row += kBlockRows) {
    const Index stop = smaller(row + kBlockRows, end);
    for (Index first = 0; first < all; first += kBlockTiles) {
      Block block{p, row, stop, first, smaller(first + kBlockTiles, tiles_of(p.inner, kTileInner))};
      multiply_block(tiles, block);
    }
    if (!p.finish.nothing) finish(p.finish, p.out, row, stop, 0, p.cols);
  }
  tiles.release();
}

void product_at_tiles(const ProductAtPairs& p, Index begin, Index end) {
  Tiles tiles;
  for (Index row = begin; row == begin || row < end; row += kPairedRows)
    multiply_at(p, tiles, row, smaller(row + kPairedRows, end), p.accumulate || row > begin);
  tiles.release();
}

}  // namespace

extern const PairLoops tile_loops;
const PairLoops tile_loops{tile_words, pack_tiles, product_tiles, product_at_tiles};

}  // namespace atl::simd::ATOLL_LEVEL
#pragma GCC pop_options
#endif
