// How late PipeGCN's rows were in a run's epochs (Wan et al. 2022, section 3.4), for people.
#pragma once

#include <vector>

namespace atl {

/// How far what came late to one layer was from what it stood for: over the rows that this rank used, Σ of
/// squared differences and of squares; of its input's halo rows, and of the gradients that came back for
/// boundary rows.
struct LayerStaleness {
  int layer = 0;
  double row_errors = 0, rows = 0;
  double gradient_errors = 0, gradients = 0;
};

/// After a training pass: of the one before, where that was asked for and has shown now. The same layers on
/// every rank.
using EpochStaleness = std::vector<LayerStaleness>;

}  // namespace atl
