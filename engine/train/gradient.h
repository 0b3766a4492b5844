// A step's gradient over ranks, by where each parameter lives (Placement): summed over the ranks that hold the same rows,
// judged and clipped as one vector of which every row counts once.
#pragma once

#include "tensor/kernels.h"
#include "train/replicated_run.h"

namespace atl {

/// One per rank. References outlive it.
class Gradient {
 public:
  Gradient(Communicator& comm, Parameters& parameters);

  /// Sums each parameter's gradient over the ranks that hold the same rows, in rank order. Collective.
  void sum(Context& ctx);
  /// After sum(): whether the whole model's gradient is finite; the same on all ranks. Collective.
  bool finite(Context& ctx);
  /// After sum(): scales the whole model's gradient down to the 2-norm `longest`; 0: no limit. Collective.
  void clip(Context& ctx, double longest);
  /// Which of Parameters::entries() has, on this rank as it is now, a gradient that isn't finite; −1: none. The last of
  /// them, for backward comes to the last layer first. Not collective.
  int last_non_finite(Context& ctx);

 private:
  double norm(Context& ctx);
  MatrixView all() { return {parameters_.gradients().data(), 1, Index(parameters_.gradients().size())}; }

  Communicator& comm_;
  Parameters& parameters_;
  std::vector<ReplicatedRun> runs_;  // in the order of parameters, which is the same on all ranks
};

}  // namespace atl
