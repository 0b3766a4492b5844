// Adam, AdamW and SGD over a model's parameters, each parameter with the weight decay of its group.
//
// If gradients are d steps late (P3's pipeline), Adam is stable only at smaller rates. Take a weight w whose
// gradient is λ w, and steps of η times the mean gradient. They are stable up to η λ = 2 (1 + β₁) / (1 − β₁),
// which is 38, but only up to 0.35 where gradients are three steps late. So for late gradients Adam's mean is
// over 1 + d times as many steps. The mean begins at zero and isn't corrected for that, which keeps the first
// steps short: their gradients are all of the same weights. With predicted weights
// (strategies/p3/push_pull.h) the limit is 2.0.
#pragma once

#include <vector>

#include "base/types.h"
#include "job/job.h"
#include "model/parameters.h"
#include "tensor/kernels.h"

namespace atl {

class Optimizer {
 public:
  /// `parameters` must outlive it. `delay`: steps between reading weights and taking their gradient.
  Optimizer(const OptimizerSpec& spec, Parameters& parameters, int delay = 0);

  /// The rate of the next step, for begin_step(). `epoch_rate`: that of its epoch (learning_rate_at).
  double rate(double epoch_rate) const;

  /// Takes one step with the state's rate and number and with the gradients in `parameters`, which must be
  /// complete (Gradient::sum, clip); does nothing if the state says that the gradient isn't finite. Each rank
  /// updates what it holds, and replicas do the same.
  void step(Context& ctx, const StepState* state);
  /// Call when a step was taken.
  void count_step() { ++steps_; }

  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }
  /// The first and second moments, or the velocity alone, laid out like the held trainable values. For
  /// checkpoints.
  std::vector<Matrix>& moments() { return moments_; }

 private:
  OptimizerSpec spec_;
  const bool is_delayed_;  // Adam with a delay
  Parameters& parameters_;
  std::vector<double> decays_;  // by parameter
  std::int64_t steps_ = 0;
  std::vector<Matrix> moments_;  // each (1, trainable)
};

// training.learningRateSchedule as a function of the epoch.

/// The rate of `epoch` (from 1): linear warm-up to `base` over the first warmup_epochs, then constant, a step
/// down by `factor` every step_epochs, or half a cosine from base to `minimum` at the last epoch.
double learning_rate_at(const ScheduleSpec& schedule, double base, Index epoch, Index epochs);

}  // namespace atl
