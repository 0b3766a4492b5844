// Which vertices a step trains on, as far as a rank owns them, and by what their losses are divided.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/recycled.h"
#include "tensor/matrix.h"

namespace atl {

/// One per sampling thread, which alone calls of_step() and weigh(); the others may be called from anywhere.
class StepSeeds {
 public:
  virtual ~StepSeeds() = default;
  /// Of an epoch. Step s of the run is step s % steps() of epoch s / steps().
  virtual std::int64_t steps() const = 0;
  /// Vertices of a step of the run over all ranks, or as many as are expected: what the loss is divided by.
  virtual double size(std::int64_t step) const = 0;
  /// rows: the rank's own of them. Collective.
  virtual void of_step(std::int64_t step, std::vector<VertexId>& rows) = 0;
  /// weights (rows): what each one's loss counts; empty: all 1.
  virtual void weigh(std::span<const VertexId> /*rows*/, Recycled<Real>& weights) const { weights.take(0); }
};

}  // namespace atl
