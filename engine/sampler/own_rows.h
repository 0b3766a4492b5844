// A rank's own rows as samplers go over them before training: some at a time, with all of their arcs.
#pragma once

#include <vector>

#include "base/function_ref.h"
#include "sampler/batch_graph.h"
#include "sampler/step_sets.h"

namespace atl {

/// A row's arcs; self-loops are among them.
struct OwnRow {
  VertexId row;
  double degree;
  std::span<const VertexId> columns;
  std::span<const float> weights;  // empty: all 1
  double weight(std::size_t arc) const { return weights.empty() ? 1 : double(weights[arc]); }
};

/// Row i of `arcs`, which are of `rows`.
OwnRow own_row(const DrawnArcs& arcs, std::span<const VertexId> rows, Index i);

/// Calls `visit` for each of the rank's rows, ascending.
void for_each_own_row(const SetInput& in, FunctionRef<void(const OwnRow&)> visit);

// A rank's own rows of features as one: what stands for them where they aren't looked at one by one.

/// (F) their mean; of training vertices alone where training sees no others. 0 where there are none.
std::vector<Real> mean_features(const BatchGraph& graph, Rank rank, bool training_alone);

}  // namespace atl
