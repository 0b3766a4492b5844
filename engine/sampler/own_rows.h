// A rank's own rows with all of their arcs, some at a time, for samplers that read them before training.
#pragma once

#include <vector>

#include "base/function_ref.h"
#include "sampler/batch_sampling.h"
#include "sampler/step_sets.h"

namespace atl {

/// A row's arcs, self-loops included.
struct OwnRow {
  VertexId row;
  double degree;
  std::span<const VertexId> columns;
  std::span<const float> weights;  // empty: all 1
  double weight(std::size_t arc) const { return weights.empty() ? 1 : double(weights[arc]); }
};

/// Row i of `arcs`, which belong to `rows`.
OwnRow own_row(const DrawnArcs& arcs, std::span<const VertexId> rows, Index i);

/// Calls `visit` for each of the rank's rows, ascending.
void for_each_own_row(const SetInput& in, FunctionRef<void(const OwnRow&)> visit);

// The mean of a rank's own rows of features, which stands for rows whose own features aren't read.

/// Returns (F) the mean, only over training vertices if `training_alone`; 0 if there are no rows.
std::vector<Real> mean_features(const BatchGraph& graph, Rank rank, bool training_alone);

}  // namespace atl
