// The optimiser's work element by element: Adam's step, with one pass over gradient, moments and weights, and
// the norm by which a gradient is clipped.
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {

void adam(const Adam& a, Index begin, Index end) {
  const Real* __restrict gradient = a.gradient;
  Real* __restrict m = a.m;
  Real* __restrict v = a.v;
  Real* __restrict weight = a.weight;
  for (Index i = begin; i < end; ++i) {
    const Real g = gradient[i] + a.decay * weight[i];
    m[i] = a.beta1 * m[i] + (1 - a.beta1) * g;
    v[i] = a.beta2 * v[i] + (1 - a.beta2) * g * g;
    const Real root = kDouble ? Real(__builtin_sqrt(double(v[i]))) : Real(__builtin_sqrtf(float(v[i])));
    const Real step = a.learning_rate * m[i] / (root * a.second_correction + a.epsilon);
    weight[i] = weight[i] * a.decoupled_decay - step;
  }
}

double squared_norm(const Real* x, Index begin, Index end) {
  constexpr Index kSums = 16;  // in parallel, because one sum would wait for itself at every element
  double sums[kSums] = {};
  Index i = begin;
  for (; i + kSums <= end; i += kSums) {
    for (Index k = 0; k < kSums; ++k) sums[k] += double(x[i + k]) * double(x[i + k]);
  }
  double total = 0;
  for (; i < end; ++i) total += double(x[i]) * double(x[i]);
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace atl::simd::ATOLL_LEVEL
