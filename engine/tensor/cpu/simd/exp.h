// e^x of a whole register, to about one unit in the last place.
#pragma once

#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {

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
