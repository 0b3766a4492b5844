// How stale PipeGCN's rows were in a run's epochs (Wan et al. 2022, section 3.4), for people.
#pragma once

#include <vector>

namespace atl {

/// How far one layer's stale values were from the true ones, over the rows that this rank used: Σ of squared
/// differences, and Σ of squares of the true values. `row` stands for its input's halo rows, `gradient` for
/// the gradients that came back for boundary rows.
struct LayerStaleness {
  int layer = 0;
  double row_errors = 0, rows = 0;
  double gradient_errors = 0, gradients = 0;
};

/// Asked after a training pass, for the pass before it, whose true values have arrived now; empty if that
/// pass wasn't to be measured. The same layers on every rank.
using EpochStaleness = std::vector<LayerStaleness>;

}  // namespace atl
