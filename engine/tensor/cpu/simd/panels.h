// How dense products are cut: the small operand into panels a few registers wide, the tall one into tiles of
// a few rows, and both into blocks that stay in the second-level cache.
#pragma once

#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {

inline constexpr int kRegisters = kBytes == 64 ? 32 : 16;
inline constexpr int kWide = kBytes == 64 ? 4 : 2;      // most registers of columns in a panel
inline constexpr Index kInnerBytes = Index(384) << 10;  // of panels that stay in the second-level cache
inline constexpr Index kInner =
    256;  // fewest inner rows of a block: longer blocks store and reload sums less often

/// Rows of a tile with N registers of columns: as many as leave registers for a panel's N and an element of
/// the tall matrix.
template <int N>
constexpr int kFitting = (kRegisters - N - 1) / N;
template <int N>
constexpr int kTall = kFitting<N> >= 12  ? 12
                      : kFitting<N> >= 8 ? 8
                                         : 6;

/// The panels of `cols` columns: as few as possible, of nearly the same width.
struct Panels {
  Index registers, count;

  explicit Panels(Index cols)
      : registers((cols + kLanes - 1) / kLanes), count((registers + kWide - 1) / kWide) {}
  Index begin(Index panel) const { return registers * panel / count; }  // in registers
  int width(Index panel) const { return int(begin(panel + 1) - begin(panel)); }
};

// These stand for std::min and std::max. Each of these files is compiled for another instruction set, and the
// linker would keep only one copy of a function that they share.
constexpr Index smaller(Index a, Index b) {
  return a < b ? a : b;
}
constexpr Index larger(Index a, Index b) {
  return a < b ? b : a;
}

/// How `product` goes over more panels than fit in the cache: by some panels, and a range of inner rows, at a
/// time.
struct Blocking {
  Index panels, inner;

  Blocking(Index inner_rows, Index cols) {
    const Panels all(cols);
    const Index line = kInnerBytes / Index(sizeof(Real)) / kLanes;  // inner rows of one register's columns
    inner = larger(kInner, line / larger(1, all.registers));
    inner = larger(1, smaller(inner, inner_rows));
    panels = larger(1, smaller(line / inner / kWide, all.count));
  }
};

/// Calls f(row, Count<rows>) for the tiles of rows [begin, end): tall ones, then the remaining rows in powers
/// of two.
template <int N, class F>
inline __attribute__((always_inline)) void for_row_tiles(Index begin, Index end, F f) {
  Index row = begin;
  for (; end - row >= kTall<N>; row += kTall<N>) f(row, Count<kTall<N>>{});
  for (; end - row >= 4; row += 4) f(row, Count<4>{});
  for (; end - row >= 2; row += 2) f(row, Count<2>{});
  if (row < end) f(row, Count<1>{});
}

}  // namespace atl::simd::ATOLL_LEVEL
