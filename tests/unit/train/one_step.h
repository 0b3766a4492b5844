// An optimiser's step on the CPU, for tests without a trainer.
#pragma once

#include "train/optimizer.h"

namespace atl {

inline void take_step(Context& ctx, Optimizer& optimizer, double learning_rate, StepState state = {}) {
  state.learning_rate = learning_rate;
  state.update = optimizer.steps() + 1;
  optimizer.step(ctx, &state);
  optimizer.count_step();
}

}  // namespace atl
