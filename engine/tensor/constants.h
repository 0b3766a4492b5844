// Operands that stay as they are for a while: what is made of one (a product's panels of its weights, a layer's mixed weights) serves
// the next calls, too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/context.h"
#include "tensor/matrix.h"

namespace atl {

/// What is made of an operand.
enum class Made {
  kPanels,
  kTransposedPanels,
  kRoundedPanels,
  kTransposedRounded,
  kPairs,
  kTransposedPairs,
  kMixed
};

/// One per rank; not thread-safe. What is kept lies in the rank's Workspace.
class Constants {
 public:
  /// Where something is made, and whether it is there already.
  struct Place {
    MatrixView values;
    bool is_made = false;
  };

  /// Nobody writes `values` from now until end(). What was kept before is made anew.
  void begin(std::span<const Real> values);
  void end() { values_ = {}; }

 private:
  friend Place place_of(Context& ctx, ConstMatrixView operand, Made made, std::string_view otherwise,
                        Index rows, Index cols);
  struct Kept {
    ConstMatrixView of;
    Made made;
    std::string name;              // in the workspace
    const Real* values = nullptr;  // there
    bool is_made = false;
  };

  /// Whether it is among the constants, or was made of one.
  bool is_constant(ConstMatrixView operand) const;
  Kept& kept(ConstMatrixView operand, Made made);

  std::span<const Real> values_;
  std::vector<Kept> kept_;  // a few for each layer
};

/// For (rows, cols) made of `operand`: kept where that is constant, and the caller fills what isn't made yet; else the workspace's
/// matrix `otherwise`, to be filled each time.
Constants::Place place_of(Context& ctx, ConstMatrixView operand, Made made, std::string_view otherwise,
                          Index rows, Index cols);

}  // namespace atl
