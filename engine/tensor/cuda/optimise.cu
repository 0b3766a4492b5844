// Optimisers' steps (Adam: Kingma & Ba 2015, algorithm 1; AdamW: Loshchilov & Hutter 2019, algorithm 2) and
// the norm of a gradient. Everything that differs between steps is read from the step's state in the device's
// memory.
#include "tensor/cuda/sums.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// The factors of Adam's step that are the same for all elements. Each block's first thread computes them.
struct Adam {
  Real learning_rate, second_correction, decoupled_decay;
};

__global__ void adam_step(AdamRule rule, const StepState* state, Index count, const Real* gradient, Real* m,
                          Real* v, Real* weight) {
  auto* const shared = shared_memory<Adam>();
  if (threadIdx.x == 0) {
    const double rate = state->learning_rate, update = double(state->update);
    shared->learning_rate = Real(rate / (1 - pow(rule.beta1, update)));
    shared->second_correction = Real(1 / sqrt(1 - pow(rule.beta2, update)));
    shared->decoupled_decay = rule.decoupled ? Real(1 - rate * rule.weight_decay) : Real(1);
  }
  __syncthreads();
  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count || state->not_finite > 0) return;
  const Adam a = *shared;
  const Real beta1 = Real(rule.beta1), beta2 = Real(rule.beta2);
  const Real decay = rule.decoupled ? Real(0) : Real(rule.weight_decay);
  const Real g = gradient[i] + decay * weight[i];
  m[i] = beta1 * m[i] + (1 - beta1) * g;
  v[i] = beta2 * v[i] + (1 - beta2) * g * g;
  const Real step = a.learning_rate * m[i] / (sqrt(v[i]) * a.second_correction + Real(rule.epsilon));
  weight[i] = weight[i] * a.decoupled_decay - step;
}

}  // namespace

void begin_step(Context& ctx, double learning_rate, std::int64_t update, StepState* state) {
  for_items(ctx, 1, [=] __device__(Index) {
    StepState fresh;
    fresh.learning_rate = learning_rate;
    fresh.update = update;
    *state = fresh;
  });
}

void adam(Context& ctx, const AdamRule& rule, const StepState* state, Index count, const Real* gradient,
          Real* m, Real* v, Real* weight) {
  launch(ctx, blocks_for(count, kThreads), kThreads, sizeof(Adam), &adam_step, rule, state, count, gradient,
         m, v, weight);
}

void sgd(Context& ctx, const SgdRule& rule, const StepState* state, Index count, const Real* gradient,
         Real* velocity, Real* weight) {
  const Real momentum = Real(rule.momentum), decay = Real(rule.weight_decay);
  for_items(ctx, count, [=] __device__(Index i) {
    if (state->not_finite > 0) return;
    velocity[i] = momentum * velocity[i] + gradient[i] + decay * weight[i];
    weight[i] -= Real(state->learning_rate) * velocity[i];
  });
}

void squared_norm(Context& ctx, Index count, const Real* x, double* sum) {
  sum_over_items(ctx, count, sum, [=] __device__(Index i) { return double(x[i]) * double(x[i]); });
}

void clip(Context& ctx, double longest, const StepState* state, MatrixView x) {
  for_elements(ctx, x.rows, x.cols, [=] __device__(Index r, Index c) {
    const double length = sqrt(state->squares[0] + state->squares[1]);
    if (state->not_finite == 0 && length > longest) at(x, r, c) *= Real(longest / length);
  });
}

void count_non_finite(Context& ctx, ConstMatrixView x, double* count, const double* unless) {
  const Index cols = x.cols;
  sum_over_items(ctx, x.rows * cols, count, [=] __device__(Index i) {
    if (unless != nullptr && isfinite(*unless)) return 0.0;
    return isfinite(value_at(x, i / cols, i % cols)) ? 0.0 : 1.0;
  });
}

}  // namespace atl::cuda
