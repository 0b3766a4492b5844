// Operands that stay as they are for a while: what a kernel makes of one (a product: panels of its weights) serves its next calls, too.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tensor/matrix.h"

namespace atl {

/// One per rank; not thread-safe. What is kept lies in the rank's Workspace.
class Constants {
 public:
  /// What one kernel keeps of one operand.
  struct Kept {
    ConstMatrixView of;
    bool transposed = false;
    std::string name;  // in the workspace
    bool is_made = false;
  };

  /// Nobody writes `values` from now until end(). What was kept before is made anew.
  void begin(std::span<const Real> values);
  void end() { values_ = {}; }
  /// Null where `operand` isn't among them. Valid until the next call.
  Kept* find(ConstMatrixView operand, bool transposed);

 private:
  std::span<const Real> values_;
  std::vector<Kept> kept_;  // a few for each layer
};

}  // namespace atl
