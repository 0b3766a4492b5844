// What arrives an epoch late, and its moving average (Wan et al. 2022, "PipeGCN", section 3.4), in plain loops: what simulations of
// late rows and gradients keep.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "job/job.h"

namespace atl {

using Dense = std::vector<std::vector<double>>;  // (rows)(columns)

inline Dense zeros(std::size_t rows, std::size_t cols) {
  return Dense(rows, std::vector<double>(cols, 0.0));
}

/// A moving average that begins at zero; without smoothing, what came last.
struct Late {
  Dense average;
  double decay = 0;
  bool corrected = true;
  int arrived = 0;

  void arrive(const Dense& rows) {
    ++arrived;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < rows[i].size(); ++j)
        average[i][j] = decay * average[i][j] + (1 - decay) * rows[i][j];
  }
  Dense used() const {
    Dense out = average;
    const double whole = corrected && arrived > 0 ? 1 - std::pow(decay, arrived) : 1;
    for (auto& row : out)
      for (double& value : row) value /= whole;
    return out;
  }
};

/// As the job smooths `what`, "features" or "gradients"; `auto` is both, but where nothing is late, or other rows each epoch.
inline Late late_of(const Job& job, const std::string& what, std::size_t rows, std::size_t cols) {
  const Options& o = job.strategy.options;
  std::string smoothed = o.has("smoothing") ? o.text("smoothing") : "none";
  if (smoothed == "auto")
    smoothed = o.integer("staleness") == 1 && o.number("boundaryRate") == 1 ? "both" : "none";
  if (smoothed != what && smoothed != "both") return {zeros(rows, cols)};
  return {zeros(rows, cols), o.number("decay"), o.flag("biasCorrection")};
}

}  // namespace atl
