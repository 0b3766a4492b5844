// How late rows did, as one rank knows it.
#pragma once

#include <vector>

namespace atl {

/// How far what came late to one layer was from what it stood for: over the rows that this rank used, Σ of squared differences and
/// of squares; of its input's halo rows, and of the gradients that came back for boundary rows.
struct LayerLateness {
  int layer = 0;
  double row_errors = 0, rows = 0;
  double gradient_errors = 0, gradients = 0;
};

/// After a training pass: of the one before, where that was asked for and has shown now. The same layers on every rank.
using EpochLateness = std::vector<LayerLateness>;

}  // namespace atl
