// Optimisers' steps (Adam: Kingma & Ba 2015, algorithm 1; AdamW: Loshchilov & Hutter 2019, algorithm 2), with
// one pass over each parameter, and the norm of a gradient.
#include <array>
#include <cmath>

#include "tensor/cpu/chunks.h"
#include "tensor/cpu/simd/loops.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {

void begin_step(Context& ctx, double learning_rate, std::int64_t update, StepState* state) {
  run_chunks(ctx, 1, [&](Index) { *state = {.learning_rate = learning_rate, .update = update}; });
}

void adam(Context& ctx, const AdamRule& rule, const StepState* state, Index count, const Real* gradient,
          Real* m, Real* v, Real* weight) {
  if (state->not_finite > 0) return;
  const double rate = state->learning_rate, update = double(state->update);
  simd::Adam a;
  a.learning_rate = Real(rate / (1 - std::pow(rule.beta1, update)));
  a.second_correction = Real(1 / std::sqrt(1 - std::pow(rule.beta2, update)));
  a.beta1 = Real(rule.beta1);
  a.beta2 = Real(rule.beta2);
  a.epsilon = Real(rule.epsilon);
  a.decay = rule.decoupled ? Real(0) : Real(rule.weight_decay);
  a.decoupled_decay = rule.decoupled ? Real(1 - rate * rule.weight_decay) : Real(1);
  a.gradient = gradient;
  a.m = m;
  a.v = v;
  a.weight = weight;
  for_rows(ctx, count, 1, [&](Index begin, Index end) { simd::loops().adam(a, begin, end); });
}

void sgd(Context& ctx, const SgdRule& rule, const StepState* state, Index count, const Real* gradient,
         Real* velocity, Real* weight) {
  if (state->not_finite > 0) return;
  const Real rate = Real(state->learning_rate), momentum = Real(rule.momentum),
             decay = Real(rule.weight_decay);
  for_rows(ctx, count, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      velocity[i] = momentum * velocity[i] + gradient[i] + decay * weight[i];
      weight[i] -= rate * velocity[i];
    }
  });
}

void squared_norm(Context& ctx, Index count, const Real* x, double* sum) {
  const RowChunks chunks = few_chunks_of_rows(count, 1);
  std::array<double, kFewChunks> partial{};
  run_chunks(ctx, chunks.count(), [&](Index chunk) {
    partial[std::size_t(chunk)] = simd::loops().squared_norm(x, chunks.begin(chunk), chunks.end(chunk));
  });
  double total = 0;
  for (const double part : partial) total += part;
  *sum += total;
}

void clip(Context& ctx, double longest, const StepState* state, MatrixView x) {
  const double length = std::sqrt(state->squares[0] + state->squares[1]);
  if (state->not_finite == 0 && length > longest) cpu::scale(ctx, Real(longest / length), x);
}

}  // namespace atl::cpu
