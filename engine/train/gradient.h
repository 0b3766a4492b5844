// A step's gradient over ranks, by where each parameter lives (Placement): summed over the ranks that hold the same rows,
// judged and clipped as one vector of which every row counts once. A layer's part of the sum begins when backward has
// left the layer, or a part of its rows (ParameterSpec::parts), and travels while backward goes on.
#pragma once

#include <optional>

#include "tensor/kernels.h"
#include "train/replicated_run.h"

namespace atl {

/// One per rank. References outlive it.
class Gradient {
 public:
  Gradient(Communicator& comm, Parameters& parameters);

  /// Begins to sum a layer's gradients, which are whole on this rank, over the ranks that hold the same rows. Collective.
  void begin_sum(int layer);
  /// Of one of its ParameterSpec::parts alone. begin_sum() follows.
  void begin_part(int layer, int part);
  /// Returns when all are summed, in rank order; begins what hasn't been. Collective.
  void sum(Context& ctx);
  /// After sum(): whether the whole model's gradient is finite; the same on all ranks. Collective.
  bool finite(Context& ctx);
  /// After sum(): scales the whole model's gradient down to the 2-norm `longest`; 0: no limit. Collective.
  void clip(Context& ctx, double longest);
  /// Which of Parameters::entries(), or of a layer's, or of a part of it, has, on this rank as it is now, a gradient that isn't
  /// finite; −1: none. The last of them, for backward comes to the last layer first. What is being summed isn't looked at.
  /// Not collective.
  int last_non_finite(Context& ctx, std::optional<int> layer = {}, std::optional<int> part = {});
  /// Held for what other ranks send.
  Index bytes() const;

 private:
  double norm(Context& ctx);
  MatrixView all() { return {parameters_.gradients().data(), 1, Index(parameters_.gradients().size())}; }

  Communicator& comm_;
  Parameters& parameters_;
  struct Run {
    int layer;
    int part;  // that it is; −1: what is whole with the layer
    ReplicatedRun values;
  };
  /// What of an entry is in one run.
  struct Piece {
    int entry;
    int part;  // as Run's
    Index offset, count;
    std::size_t run = 0;
  };
  static std::vector<Piece> pieces_of(const std::vector<Parameters::Entry>& entries);

  std::vector<Piece> pieces_;  // in the order of parameters, which is the same on all ranks; and so are runs
  std::vector<Run> runs_;
};

}  // namespace atl
