// Products of a matrix of bits and a dense one, by tables of sums (the "four Russians" method: Arlazarov,
// Dinic, Kronrod, Faradzhev 1970). The 16 possible sums of four rows of the dense matrix are computed once. A
// row of bits then costs one addition and one load for each four of its columns: a third of the time of a
// dense product at the machine's full rate, from a thirty-second of the memory.
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

constexpr int kGroups = 8, kSums = 16;  // groups of four rows per word of bits; sums per group
constexpr int kMostRegisters =
    4;  // registers of columns done at once; a word's tables then fit in the first-level cache

/// The sums of each group of four rows of x, scaled: sums[g][m] adds up those of rows 4g … 4g + 3 whose bit
/// is set in m.
template <int N>
struct SumTable {
  alignas(kBytes) Real sums[kGroups][kSums][N * kLanes];

  void fill(const BitProduct& p, Index first, Index column, Index cols) {
    for (int g = 0; g < kGroups; ++g) {
      for (int n = 0; n < N; ++n) store(sums[g][0] + n * kLanes, Vec{});
      for (int bit = 0; bit < 4; ++bit) {
        Vec row[N];
        read(p, first + 4 * g + bit, column, cols, row);
        for (int m = 0; m < 1 << bit; ++m) {
          const Real* without = sums[g][m];
          Real* with = sums[g][m | 1 << bit];
          for (int n = 0; n < N; ++n) store(with + n * kLanes, load(without + n * kLanes) + row[n]);
        }
      }
    }
  }

  /// Adds up what the word selects from each group.
  inline __attribute__((always_inline)) void look_up(std::uint32_t word, Vec (&sum)[N]) const {
    for (int n = 0; n < N; ++n) sum[n] = load(sums[0][word & 15] + n * kLanes);
    for (int g = 1; g < kGroups; ++g) {
      const Real* found = sums[g][word >> 4 * g & 15];
      for (int n = 0; n < N; ++n) sum[n] += load(found + n * kLanes);
    }
  }

 private:
  /// Row i of x, times its scale; zeros after the last row.
  static void read(const BitProduct& p, Index i, Index column, Index cols, Vec (&row)[N]) {
    const Vec scale = splat(p.inner_scale != nullptr && i < p.inner ? p.inner_scale[i] : 1);
    for (int n = 0; n < N; ++n) {
      const Index left = cols - n * kLanes;
      row[n] = i < p.inner
                   ? load(p.x.row(i) + column + n * kLanes, left < kLanes ? int(left) : kLanes) * scale
                   : Vec{};
    }
  }
};

/// Does rows [begin, end) of N registers' columns.
template <int N>
void multiply(const BitProduct& p, Index begin, Index end, Index column) {
  const Index words = (p.inner + 31) / 32, cols = p.cols - column < N * kLanes ? p.cols - column : N * kLanes;
  SumTable<N> table;
  for (Index w = 0; w == 0 || w < words; ++w) {  // without words the result is 0
    table.fill(p, 32 * w, column, cols);
    const bool add = p.accumulate || w > 0;
    for (Index r = begin; r < end; ++r) {
      Vec sum[N];
      table.look_up(words > 0 ? p.words[r * words + w] : 0, sum);
      const Vec scale = splat(p.row_scale != nullptr ? p.row_scale[r] : 1);
      for (int n = 0; n < N; ++n) {
        Real* to = p.out.row(r) + column + n * kLanes;
        const Index left = cols - n * kLanes;
        const int lanes = left < kLanes ? int(left) : kLanes;
        store(to, add ? load(to, lanes) + sum[n] * scale : sum[n] * scale, lanes);
      }
    }
  }
}

}  // namespace

void bit_product(const BitProduct& p, Index begin, Index end) {
  for (Index column = 0; column < p.cols;) {
    const Index registers = (p.cols - column + kLanes - 1) / kLanes;
    with_count<kMostRegisters>(registers, [&](auto count) {
      multiply<count.value>(p, begin, end, column);
      column += count.value * kLanes;
    });
  }
  if (!p.finish.nothing) finish(p.finish, p.out, begin, end, 0, p.cols);
}

}  // namespace atl::simd::ATOLL_LEVEL
