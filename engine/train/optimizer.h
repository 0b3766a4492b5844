// Adam, AdamW and SGD over a model's parameters, each parameter with the weight decay of its group.
#pragma once

#include <vector>

#include "job/job.h"
#include "model/parameters.h"
#include "tensor/kernels.h"

namespace atl {

class Optimizer {
 public:
  /// `parameters` outlives it.
  Optimizer(const OptimizerSpec& spec, Parameters& parameters);

  /// One step with the gradients in `parameters`, which must be whole (Gradient::sum, clip), and the state's rate and number, unless
  /// it says that the gradient isn't finite. Each rank updates what it holds; replicas do the same.
  void step(Context& ctx, const StepState* state);
  /// A step was taken.
  void count_step() { ++steps_; }

  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }
  /// First and second moments (or the velocity, alone): laid out as the trainable values held. For checkpoints.
  std::vector<Matrix>& moments() { return moments_; }

 private:
  OptimizerSpec spec_;
  Parameters& parameters_;
  std::vector<double> decays_;  // by parameter
  std::int64_t steps_ = 0;
  std::vector<Matrix> moments_;  // each (1, trainable)
};

}  // namespace atl
