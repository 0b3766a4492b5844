// Dense products of a tall matrix and a small one. A tile of the result, a few rows by a few registers of
// columns, stays in registers while the loop goes over the inner dimension. The tall matrix is read in place,
// once: with so few columns, a packed copy would cost as much as it saves (a BLAS that packs both spends a
// fifth of its time on it).
//
// `product` packs its small operand into panels, one after the other, of up to kWide registers' columns. A
// panel has its columns of inner row 0, then of inner row 1, and so on, padded with zeros to whole registers.
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/panels.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

constexpr Index kBlock = 256;  // rows whose sums product_at keeps in registers
constexpr Index kLine = 64 / Index(sizeof(Real));

/// R × N registers of results, and how to store them.
template <int R, int N>
struct Tile {
  Vec sum[R][N] = {};

  /// Adds Σ_i x[i · step + r · next] · panel[i] to row r.
  inline __attribute__((always_inline)) void add(const Real* x, Index step, Index next, const Real* panel,
                                                 Index panel_step, Index inner) {
    for (Index i = 0; i < inner; ++i) {
      Vec w[N];
      for (int n = 0; n < N; ++n) w[n] = load(panel + i * panel_step + n * kLanes);
      prefetch(x, i, step, next);
      for (int r = 0; r < R; ++r) {
        const Vec element = splat(x[i * step + r * next]);
        for (int n = 0; n < N; ++n) sum[r][n] += element * w[n];
      }
    }
  }
  /// Prefetches what the next tile reads: the rows after these, a cache line at a time, or the next columns.
  static inline __attribute__((always_inline)) void prefetch(const Real* x, Index i, Index step, Index next) {
    if (step > 1) {
      __builtin_prefetch(x + i * step + kLine);
    } else if (i % kLine == 0) {
      for (int r = 0; r < R; ++r) __builtin_prefetch(x + i + (r + R) * next);
    }
  }
  /// Writes to the first `cols` columns of R rows of out.
  inline __attribute__((always_inline)) void put(Real* out, Index stride, Index cols, bool accumulate) const {
    for (int r = 0; r < R; ++r) {
      for (int n = 0; n < N; ++n) {
        Real* to = out + r * stride + n * kLanes;
        const int lanes = cols - n * kLanes < kLanes ? int(cols - n * kLanes) : kLanes;
        store(to, accumulate ? load(to, lanes) + sum[r][n] : sum[r][n], lanes);
      }
    }
  }
};

/// Does rows [begin, end) of one panel's columns, for inner rows [first, first + inner).
template <int N>
void multiply(const Product& p, Index begin, Index end, const Real* panel, Index column, Index first,
              Index inner, bool accumulate) {
  const Index step = N * kLanes, cols = p.cols - column < step ? p.cols - column : step;
  for_row_tiles<N>(begin, end, [&](Index row, auto rows) {
    Tile<rows.value, N> tile;
    tile.add(p.a.row(row) + first, 1, p.a.stride, panel + first * step, step, inner);
    tile.put(p.out.row(row) + column, p.out.stride, cols, accumulate);
  });
}

/// Does rows [begin, end) with panels [from, to) and inner rows [first, first + inner), a few rows at a time.
/// `last`: those rows are then complete.
void multiply_block(const Product& p, Index begin, Index end, Index from, Index to, Index first, Index inner,
                    bool last) {
  const Panels panels(p.cols);
  for (Index row = begin; row < end; row += 24) {
    const Index stop = smaller(row + 24, end);
    for (Index n = from; n < to; ++n) {
      const Real* panel = p.panels + panels.begin(n) * kLanes * p.inner;
      with_count<kWide>(panels.width(n), [&](auto width) {
        multiply<width.value>(p, row, stop, panel, panels.begin(n) * kLanes, first, inner,
                              p.accumulate || first > 0);
      });
    }
    if (last && !p.finish.nothing) finish(p.finish, p.out, row, stop, 0, p.cols);
  }
}

/// Copies one panel's columns of b's rows [begin, end), row after row.
void copy_panel(In b, Index begin, Index end, Index column, Index cols, int width, Real* to) {
  for (Index row = begin; row < end; ++row) {
    for (int n = 0; n < width; ++n, to += kLanes) {
      const Index left = cols - column - n * kLanes;
      store(to, load(b.row(row) + column + n * kLanes, left < kLanes ? int(left) : kLanes));
    }
  }
}

/// Multiplies all columns of a with one panel of b, over a block of rows; adds to out, or overwrites it.
template <int N>
void multiply_at(const ProductAt& p, Index begin, Index end, const Real* panel, Index column,
                 bool accumulate) {
  const Index step = N * kLanes, cols = p.b_cols - column < step ? p.b_cols - column : step;
  for_row_tiles<N>(0, p.a_cols, [&](Index k, auto count) {
    Tile<count.value, N> tile;
    tile.add(p.a.row(begin) + k, p.a.stride, 1, panel, step, end - begin);
    tile.put(p.out.row(k) + column, p.out.stride, cols, accumulate);
  });
}

}  // namespace

Index panel_elements(Index inner, Index cols) {
  return inner * Panels(cols).registers * kLanes;
}

void pack_panels(In w, bool transposed, Index inner, Index cols, Real* to) {
  const Panels panels(cols);
  for (Index p = 0; p < panels.count; ++p) {
    const Index column = panels.begin(p) * kLanes, step = panels.width(p) * kLanes;
    Real* panel = to + panels.begin(p) * kLanes * inner;
    if (!transposed) {
      copy_panel(w, 0, inner, column, cols, panels.width(p), panel);
      continue;
    }
    // A few inner rows at a time, so that written lines stay in the cache until they are complete.
    for (Index first = 0; first < inner; first += kLine) {
      const Index stop = first + kLine < inner ? first + kLine : inner;
      for (Index c = 0; c < step; ++c) {
        for (Index i = first; i < stop; ++i)
          panel[i * step + c] = column + c < cols ? w.row(column + c)[i] : 0;
      }
    }
  }
}

void product(const Product& p, Index begin, Index end) {
  const Panels panels(p.cols);
  const Blocking block(p.inner, p.cols);
  for (Index n = 0; n < panels.count; n += block.panels) {
    const Index stop = smaller(n + block.panels, panels.count);
    for (Index first = 0; first == 0 || first < p.inner; first += block.inner) {
      const bool last = stop == panels.count && first + block.inner >= p.inner;
      multiply_block(p, begin, end, n, stop, first, smaller(block.inner, p.inner - first), last);
    }
  }
}

Index multiply_adds(Index rounds, Real* left) {
  constexpr int kSums = 12;  // more than two instructions a cycle have in flight
  Vec sums[kSums];
  // all different, because a compiler would merge equal ones
  for (int i = 0; i < kSums; ++i) sums[i] = splat(Real(i));
  const Vec factor = splat(Real(0.5)), summand = splat(1);
  for (Index round = 0; round < rounds; ++round)
    for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * factor + summand;
  for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
  *left = sum_lanes(sums[0]);
  return 2 * rounds * kSums * kLanes;
}

void product_at(const ProductAt& p, Index begin, Index end) {
  const Panels panels(p.b_cols);
  alignas(kBytes) Real panel[kBlock * kWide * kLanes];
  for (Index row = begin; row == begin || row < end; row += kBlock) {
    const Index stop = row + kBlock < end ? row + kBlock : end;
    for (Index n = 0; n < panels.count; ++n) {
      const Index column = panels.begin(n) * kLanes;
      copy_panel(p.b, row, stop, column, p.b_cols, panels.width(n), panel);
      with_count<kWide>(panels.width(n), [&](auto width) {
        multiply_at<width.value>(p, row, stop, panel, column, p.accumulate || row > begin);
      });
    }
  }
}

}  // namespace atl::simd::ATOLL_LEVEL
