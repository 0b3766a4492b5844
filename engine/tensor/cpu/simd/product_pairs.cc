// Dense products of matrices in halves on processors that multiply pairs of halves (AVX512-BF16). They use
// product.cc's tiles, but an element is two adjacent values of the inner dimension in 32 bits. Sums are
// float32. Operands are rounded first; small ones when they are packed, as other processors do too
// (tensor/cpu/gemm.cc).
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/pairs.h"
#include "tensor/cpu/simd/panels.h"
#include "tensor/cpu/simd/stored.h"

#if defined(__AVX512F__) && !defined(ATOLL_REAL_DOUBLE) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx512bf16")
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12's own header of these instructions causes it

namespace atl::simd::ATOLL_LEVEL {
namespace {

constexpr Index kPairRows = kPairedRows / 2;  // pairs whose sums product_at_pairs keeps in registers

inline std::uint32_t pair_at(const char* at) {
  std::uint32_t pair;
  __builtin_memcpy(&pair, at, sizeof pair);
  return pair;
}

/// R × N registers of results.
template <int R, int N>
struct Tile {
  __m512 sum[R][N];

  inline __attribute__((always_inline)) Tile() {
    for (int r = 0; r < R; ++r)
      for (int n = 0; n < N; ++n) sum[r][n] = _mm512_setzero_ps();
  }
  /// Adds Σ_i x[i · step + r · next] · panel[i] to row r, in pairs; steps are in bytes.
  inline __attribute__((always_inline)) void add(const char* x, Index step, Index next,
                                                 const std::uint32_t* panel, Index pairs) {
    for (Index i = 0; i < pairs; ++i) {
      __m512bh w[N];
      for (int n = 0; n < N; ++n) w[n] = (__m512bh)_mm512_loadu_si512(panel + (i * N + n) * kLanes);
      for (int r = 0; r < R; ++r) {
        const auto element = (__m512bh)_mm512_set1_epi32(int(pair_at(x + i * step + r * next)));
        for (int n = 0; n < N; ++n) sum[r][n] = _mm512_dpbf16_ps(sum[r][n], w[n], element);
      }
    }
  }
  /// Adds the last inner element, which has no partner where their number is odd.
  inline __attribute__((always_inline)) void add_single(const char* x, Index next,
                                                        const std::uint32_t* panel) {
    for (int r = 0; r < R; ++r) {
      std::uint16_t half;
      __builtin_memcpy(&half, x + r * next, sizeof half);
      const auto element = (__m512bh)_mm512_set1_epi32(half);
      for (int n = 0; n < N; ++n)
        sum[r][n] = _mm512_dpbf16_ps(sum[r][n], (__m512bh)_mm512_loadu_si512(panel + n * kLanes), element);
    }
  }
  inline __attribute__((always_inline)) void put(Real* out, Index stride, Index cols, bool accumulate) const {
    for (int r = 0; r < R; ++r) {
      for (int n = 0; n < N; ++n) {
        Real* to = out + r * stride + n * kLanes;
        const int lanes = cols - n * kLanes < kLanes ? int(cols - n * kLanes) : kLanes;
        const Vec value = Vec(sum[r][n]);
        store(to, accumulate ? load(to, lanes) + value : value, lanes);
      }
    }
  }
};

/// Does rows [begin, end) of one panel's columns, for pairs [first, first + pairs).
template <int N>
void multiply(const ProductPairs& p, Index begin, Index end, const std::uint32_t* panel, Index column,
              Index first, Index pairs, bool accumulate) {
  const Index step = N * kLanes, cols = p.cols - column < step ? p.cols - column : step;
  const Index next = p.a.stride * Index(sizeof(Bfloat16));
  const bool ends_odd = 2 * (first + pairs) > p.inner;
  const Index whole = ends_odd ? pairs - 1 : pairs;
  for_row_tiles<N>(begin, end, [&](Index row, auto rows) {
    Tile<rows.value, N> tile;
    const auto* const x = reinterpret_cast<const char*>(p.a.halves + row * p.a.stride + 2 * first);
    tile.add(x, 4, next, panel + first * step, whole);
    if (ends_odd) tile.add_single(x + 4 * whole, next, panel + (first + whole) * step);
    tile.put(p.out.row(row) + column, p.out.stride, cols, accumulate);
  });
}

void multiply_block(const ProductPairs& p, Index begin, Index end, Index from, Index to, Index first,
                    Index count, bool last) {
  const Panels panels(p.cols);
  const Index all = (p.inner + 1) / 2;
  for (Index row = begin; row < end; row += 24) {
    const Index stop = smaller(row + 24, end);
    for (Index n = from; n < to; ++n) {
      const std::uint32_t* panel = p.panels + panels.begin(n) * kLanes * all;
      with_count<kWide>(panels.width(n), [&](auto width) {
        multiply<width.value>(p, row, stop, panel, panels.begin(n) * kLanes, first, count,
                              p.accumulate || first > 0);
      });
    }
    if (last && !p.finish.nothing) finish(p.finish, p.out, row, stop, 0, p.cols);
  }
}

template <int N>
void multiply_at(const ProductAtPairs& p, const std::uint32_t* words, Index pairs, const std::uint32_t* panel,
                 Index column, bool accumulate) {
  const Index step = N * kLanes, cols = p.b_cols - column < step ? p.b_cols - column : step;
  for_row_tiles<N>(0, p.a_cols, [&](Index k, auto count) {
    Tile<count.value, N> tile;
    tile.add(reinterpret_cast<const char*>(words + k), p.words_step() * 4, 4, panel, pairs);
    tile.put(p.out.row(k) + column, p.out.stride, cols, accumulate);
  });
}

}  // namespace

Index pair_words(Index inner, Index cols) {
  return (inner + 1) / 2 * Panels(cols).registers * kLanes;
}

void pack_pairs(In w, bool transposed, Index inner, Index cols, std::uint32_t* to) {
  const Panels panels(cols);
  const Elements elements{w, transposed, inner, cols};
  for (Index p = 0; p < panels.count; ++p) {
    const Index column = panels.begin(p) * kLanes, step = panels.width(p) * kLanes;
    for (Index i = 0; i < inner; i += 2, to += step)
      for (Index c = 0; c < step; ++c) to[c] = elements.pair(i, column + c);
  }
}

void product_pairs(const ProductPairs& p, Index begin, Index end) {
  const Panels panels(p.cols);
  const Index all = (p.inner + 1) / 2;
  const Blocking block(all, p.cols);
  for (Index n = 0; n < panels.count; n += block.panels) {
    const Index stop = smaller(n + block.panels, panels.count);
    for (Index first = 0; first == 0 || first < all; first += block.inner) {
      const bool last = stop == panels.count && first + block.inner >= all;
      multiply_block(p, begin, end, n, stop, first, smaller(block.inner, all - first), last);
    }
  }
}

void product_at_pairs(const ProductAtPairs& p, Index begin, Index end) {
  const Panels panels(p.b_cols);
  alignas(kBytes) std::uint32_t panel[kPairRows * kWide * kLanes];
  for (Index row = begin; row == begin || row < end; row += 2 * kPairRows) {
    const Index stop = smaller(row + 2 * kPairRows, end), pairs = (stop - row + 1) / 2;
    interleave(p.a, row, stop, 0, p.a_cols, p.words_step(), p.words);
    for (Index n = 0; n < panels.count; ++n) {
      const Index column = panels.begin(n) * kLanes, step = panels.width(n) * kLanes;
      interleave(p.b, row, stop, column, p.b_cols - column, step, panel);
      with_count<kWide>(panels.width(n), [&](auto width) {
        multiply_at<width.value>(p, p.words, pairs, panel, column, p.accumulate || row > begin);
      });
    }
  }
}

extern const PairLoops pair_loops;
const PairLoops pair_loops{pair_words, pack_pairs, product_pairs, product_at_pairs};

}  // namespace atl::simd::ATOLL_LEVEL
#pragma GCC pop_options
#endif
