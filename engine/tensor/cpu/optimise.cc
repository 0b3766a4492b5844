// Optimisers' steps (Adam: Kingma & Ba 2015, algorithm 1; AdamW: Loshchilov & Hutter 2019, algorithm 2), one pass over
// each parameter, and the norm of a gradient.
#include <array>
#include <cmath>

#include "tensor/cpu/chunks.h"
#include "tensor/cpu/simd/loops.h"
#include "tensor/kernels.h"

namespace atl {

void adam(Context& ctx, const AdamStep& s, Index count, const Real* gradient, Real* m, Real* v,
          Real* weight) {
  ATOLL_CHECK(s.step >= 1, "step {}", s.step);
  simd::Adam a;
  a.learning_rate = Real(s.learning_rate / (1 - std::pow(s.beta1, double(s.step))));
  a.second_correction = Real(1 / std::sqrt(1 - std::pow(s.beta2, double(s.step))));
  a.beta1 = Real(s.beta1);
  a.beta2 = Real(s.beta2);
  a.epsilon = Real(s.epsilon);
  a.decay = s.decoupled ? Real(0) : Real(s.weight_decay);
  a.decoupled_decay = s.decoupled ? Real(1 - s.learning_rate * s.weight_decay) : Real(1);
  a.gradient = gradient;
  a.m = m;
  a.v = v;
  a.weight = weight;
  for_rows(ctx, count, 1, [&](Index begin, Index end) { simd::loops().adam(a, begin, end); });
}

void sgd(Context& ctx, const SgdStep& s, Index count, const Real* gradient, Real* velocity, Real* weight) {
  const Real rate = Real(s.learning_rate), momentum = Real(s.momentum), decay = Real(s.weight_decay);
  for_rows(ctx, count, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      velocity[i] = momentum * velocity[i] + gradient[i] + decay * weight[i];
      weight[i] -= rate * velocity[i];
    }
  });
}

double squared_norm(Context& ctx, Index count, const Real* x) {
  const RowChunks chunks = few_chunks_of_rows(count, 1);
  std::array<double, kFewChunks> partial{};
  run_chunks(ctx, chunks.count(), [&](Index chunk) {
    partial[std::size_t(chunk)] = simd::loops().squared_norm(x, chunks.begin(chunk), chunks.end(chunk));
  });
  double sum = 0;
  for (const double part : partial) sum += part;
  return sum;
}

}  // namespace atl
