// One vector register of Reals, whatever the instruction set; the basis of the files in this folder.
//
// Each file here is compiled three times (engine/CMakeLists.txt), with ATOLL_LEVEL = baseline, avx2, avx512
// and the matching flags, into a namespace of that name. Nothing shared may be instantiated in it (no std
// templates, no inline function of ours from outside), because the linker would keep one copy, perhaps the
// one with instructions that this machine doesn't have. tests/unit/tensor/simd_symbols_test.cc checks the
// object files.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "base/types.h"

namespace atl::simd::ATOLL_LEVEL {

#if defined(__AVX512F__)
inline constexpr int kBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kBytes = 32;
#else
inline constexpr int kBytes = 16;
#endif

/// Lanes of a register.
inline constexpr int kLanes = kBytes / int(sizeof(Real));
inline constexpr bool kDouble = sizeof(Real) == 8;

template <bool wide>
struct LaneInt {
  using Signed = std::int32_t;
  using Unsigned = std::uint32_t;
};
template <>
struct LaneInt<true> {
  using Signed = std::int64_t;
  using Unsigned = std::uint64_t;
};

typedef Real Vec __attribute__((vector_size(kBytes)));
typedef Real UnalignedVec __attribute__((vector_size(kBytes), aligned(alignof(Real)), may_alias));
typedef LaneInt<kDouble>::Signed IntVec __attribute__((vector_size(kBytes)));     // as wide as a Real
typedef LaneInt<kDouble>::Unsigned WordVec __attribute__((vector_size(kBytes)));  // the same, wrapping
typedef std::uint32_t Bits __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));  // 32 bits per lane
typedef std::int32_t BitsMask __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

inline Vec splat(Real x) {
  return x - Vec{};
}
inline Vec load(const Real* p) {
  return *reinterpret_cast<const UnalignedVec*>(p);
}
inline void store(Real* p, Vec v) {
  *reinterpret_cast<UnalignedVec*>(p) = v;
}

/// Lane i of the result is lane from[i] of v.
inline Vec permuted(Vec v, IntVec from) {
#if defined(__clang__)  // lacks this builtin; used only for fuzzing and analysis
  Vec result{};
  for (int i = 0; i < kLanes; ++i) result[i] = v[from[i]];
  return result;
#else
  return __builtin_shuffle(v, from);
#endif
}

// Loads or stores the first n < kLanes elements. Other lanes are 0, and the memory behind isn't touched.
#if defined(__AVX512F__) && !defined(ATOLL_REAL_DOUBLE)
inline Vec load_part(const Real* p, int n) {
  return Vec(_mm512_maskz_loadu_ps(__mmask16((1u << n) - 1), p));
}
inline void store_part(Real* p, Vec v, int n) {
  _mm512_mask_storeu_ps(p, __mmask16((1u << n) - 1), __m512(v));
}
#elif defined(__AVX512F__)
inline Vec load_part(const Real* p, int n) {
  return Vec(_mm512_maskz_loadu_pd(__mmask8((1u << n) - 1), p));
}
inline void store_part(Real* p, Vec v, int n) {
  _mm512_mask_storeu_pd(p, __mmask8((1u << n) - 1), __m512d(v));
}
#elif defined(__AVX2__) && !defined(ATOLL_REAL_DOUBLE)
inline __m256i first_lanes(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Vec load_part(const Real* p, int n) {
  return Vec(_mm256_maskload_ps(p, first_lanes(n)));
}
inline void store_part(Real* p, Vec v, int n) {
  _mm256_maskstore_ps(p, first_lanes(n), __m256(v));
}
#elif defined(__AVX2__)
inline __m256i first_lanes(int n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
inline Vec load_part(const Real* p, int n) {
  return Vec(_mm256_maskload_pd(p, first_lanes(n)));
}
inline void store_part(Real* p, Vec v, int n) {
  _mm256_maskstore_pd(p, first_lanes(n), __m256d(v));
}
#else
inline Vec load_part(const Real* p, int n) {
  Vec v{};
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
}
inline void store_part(Real* p, Vec v, int n) {
  for (int i = 0; i < n; ++i) p[i] = v[i];
}
#endif

// bfloat16 in memory, a Vec in registers; rounds as tensor/bfloat16.h does.
typedef std::uint16_t Halves __attribute__((vector_size(kLanes * 2)));
typedef float Floats __attribute__((vector_size(kLanes * 4)));

inline Vec widened(Halves h) {
  return __builtin_convertvector(Floats(__builtin_convertvector(h, Bits) << 16), Vec);
}
inline Halves rounded(Vec v) {
  const Bits bits = Bits(__builtin_convertvector(v, Floats));
  const Bits nearest = bits + 0x7fffu + ((bits >> 16) & 1u);
  const Bits value = (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : nearest;
  return __builtin_convertvector(value >> 16, Halves);
}
inline Vec load(const Bfloat16* p) {
  Halves h;
  __builtin_memcpy(&h, p, sizeof h);
  return widened(h);
}
inline void store(Bfloat16* p, Vec v) {
  const Halves h = rounded(v);
  __builtin_memcpy(p, &h, sizeof h);
}
#if defined(__AVX512F__) && !defined(ATOLL_REAL_DOUBLE)
inline Vec load_part(const Bfloat16* p, int n) {
  return widened(Halves(_mm256_maskz_loadu_epi16(__mmask16((1u << n) - 1), p)));
}
inline void store_part(Bfloat16* p, Vec v, int n) {
  _mm256_mask_storeu_epi16(p, __mmask16((1u << n) - 1), __m256i(rounded(v)));
}
#else
inline Vec load_part(const Bfloat16* p, int n) {
  Halves h{};
  for (int i = 0; i < n; ++i) h[i] = p[i].bits;
  return widened(h);
}
inline void store_part(Bfloat16* p, Vec v, int n) {
  const Halves h = rounded(v);
  for (int i = 0; i < n; ++i) p[i].bits = h[i];
}
#endif

inline Vec max(Vec a, Vec b) {
  return a > b ? a : b;
}  // b where either is NaN

typedef Real Vec16 __attribute__((vector_size(16)));
typedef Real Vec32 __attribute__((vector_size(32)));
template <class Half, class Whole>
inline Half fold(Whole v) {
  Half halves[2];
  __builtin_memcpy(halves, &v, sizeof v);
  return halves[0] + halves[1];
}
inline Real sum_lanes(Vec16 v) {
  Real sum = v[0] + v[1];
  for (int i = 2; i < int(16 / sizeof(Real)); ++i) sum += v[i];
  return sum;
}
#if defined(__AVX2__)
inline Real sum_lanes(Vec32 v) {
  return sum_lanes(fold<Vec16>(v));
}
#endif
#if defined(__AVX512F__)
inline Real sum_lanes(Vec v) {
  return sum_lanes(fold<Vec32>(v));
}
#endif

/// Calls f(column, n) for each register's worth of columns in [begin, end); n is kLanes except for the last.
template <class F>
inline __attribute__((always_inline)) void for_columns(Index begin, Index end, F f) {
  Index c = begin;
  for (; c + kLanes <= end; c += kLanes) f(c, kLanes);
  if (c < end) f(c, int(end - c));
}
template <class T>
inline Vec load(const T* p, int n) {
  return n == kLanes ? load(p) : load_part(p, n);
}
template <class T>
inline void store(T* p, Vec v, int n) {
  n == kLanes ? store(p, v) : store_part(p, v, n);
}

template <int count>
struct Count {
  static constexpr int value = count;
};
/// Calls f(Count<n>) with n = count, but at most `most`, so that n can be a template argument.
template <int most, class F>
inline __attribute__((always_inline)) void with_count(Index count, F f) {
  if (count >= most) return f(Count<most>{});
  if constexpr (most > 1) with_count<most - 1>(count, f);
}

// e^x of a whole register, to about one unit in the last place.

struct InverseFactorials {
  Real at[14];
  constexpr InverseFactorials() : at{1} {
    for (int k = 1; k < 14; ++k) at[k] = at[k - 1] / Real(k);
  }
};

/// x = n·ln 2 + r with |r| ≤ ln 2 / 2. e^r is its Taylor series; adding n to the exponent bits multiplies by
/// 2ⁿ. Below −87 (double: −708) the result is 0, above 88 (709) it is +∞; NaN stays NaN.
inline Vec exp(Vec x) {
  constexpr int kTerms = kDouble ? 13 : 7;
  constexpr int kFraction = kDouble ? 52 : 23;
  constexpr Real kLowest = kDouble ? Real(-708) : Real(-87), kHighest = kDouble ? Real(709) : Real(88);
  // ln 2 in two pieces, the first with enough trailing zeros for n·kLnHigh to be exact.
  constexpr Real kLnHigh = kDouble ? Real(6.93147180369123816490e-01) : Real(0.693359375);
  constexpr Real kLnLow = kDouble ? Real(1.90821492927058770002e-10) : Real(-2.12194440e-4);
  // Adding and subtracting 1.5·2^fraction rounds to an integer, and the sum has that integer in its low bits.
  constexpr Real kRound = kDouble ? Real(6755399441055744.0) : Real(12582912.0);

  const Vec shifted = x * Real(1.44269504088896340736) + kRound;
  const Vec n = shifted - kRound;
  const Vec r = (x - n * kLnHigh) - n * kLnLow;
  constexpr InverseFactorials kInverseFactorial;
  Vec series = splat(kInverseFactorial.at[kTerms]);
  for (int k = kTerms - 1; k >= 0; --k) series = series * r + kInverseFactorial.at[k];
  const WordVec power = (WordVec(shifted) - WordVec(splat(kRound)))
                        << kFraction;  // wraps if out of range, where it isn't used
  const Vec result = Vec(WordVec(series) + power);
  const Vec infinite = splat(Real(__builtin_inf()));
  const Vec bounded = x < kLowest ? Vec{} : x > kHighest ? infinite : result;
  return x != x ? x : bounded;
}

}  // namespace atl::simd::ATOLL_LEVEL
