// Pairs of halves, as processors multiply them: two adjacent values of the inner dimension in 32 bits, the
// earlier one below.
#pragma once

#include "tensor/cpu/simd/stored.h"
#include "tensor/cpu/simd/vec.h"

#if defined(__AVX512F__) && !defined(ATOLL_REAL_DOUBLE) && !defined(__clang__)

namespace atl::simd::ATOLL_LEVEL {

inline std::uint16_t half_of(Real value) {
  Vec v{};
  v[0] = value;
  return rounded(v)[0];
}

/// A small operand (inner, cols), in either storage, whose elements are read as halves.
struct Elements {
  In of;
  bool transposed;  // `of` is (cols, inner)
  Index inner, cols;

  std::uint32_t at(Index i, Index c) const {
    const Index row = transposed ? c : i, column = transposed ? i : c;
    if (of.halves != nullptr) return of.halves[row * of.stride + column].bits;
    return half_of(of.row(row)[column]);
  }
  /// Elements i and i + 1 of column c; 0 for those that aren't there.
  std::uint32_t pair(Index i, Index c) const {
    if (c >= cols || i >= inner) return 0;
    return at(i, c) | (i + 1 < inner ? at(i + 1, c) << 16 : 0);
  }
};

/// Puts two rows' halves side by side in 32 bits, a register's columns at a time; `below` may be null.
inline __m512i interleaved(const Bfloat16* above, const Bfloat16* below, int n) {
  const auto mask = __mmask16((1u << n) - 1);
  const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, above));
  if (below == nullptr) return low;
  const __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, below));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/// Writes columns [column, column + count) of rows [begin, end) as pairs of rows: pair after pair, each with
/// `step` columns.
inline void interleave(In m, Index begin, Index end, Index column, Index count, Index step,
                       std::uint32_t* to) {
  const Index ahead = 16 * m.stride;  // enough to hide the memory's latency
  for (Index row = begin; row < end; row += 2, to += step) {
    const Bfloat16* above = m.halves + row * m.stride + column;
    const Bfloat16* below = row + 1 < end ? above + m.stride : nullptr;
    for (Index c = 0; c < step; c += kLanes) {
      const Index left = count - c;
      if (c % (2 * kLanes) == 0) {
        __builtin_prefetch(above + ahead + c);
        __builtin_prefetch(above + ahead + m.stride + c);
      }
      const int n = left >= kLanes ? kLanes : left > 0 ? int(left) : 0;
      _mm512_storeu_si512(to + c, interleaved(above + c, below == nullptr ? nullptr : below + c, n));
    }
  }
}

}  // namespace atl::simd::ATOLL_LEVEL
#endif
