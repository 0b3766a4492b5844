// Visits a rank's own rows with all their arcs, some rows at a time, for samplers that read them before
// training.
#pragma once

#include <span>
#include <vector>

#include "base/function_ref.h"
#include "graph/row_table.h"
#include "sampler/batch_sampling.h"
#include "sampler/owners.h"
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

// Sums by column of the adjacency, whose rows are distributed. Each rank adds the values of its rows' arcs,
// and the column's owner gets the sum over ranks.

/// One per sampling thread. Both arguments outlive it.
class ColumnSums {
 public:
  ColumnSums(const Owners& owners, Communicator& comm) : requests_(owners, comm) {}

  void clear();
  void add(VertexId column, double value);
  /// Sends each column's value to its owner. Collective.
  void sum();
  /// After sum(): this rank's columns to which any rank added, and their sums. Values are added in the order
  /// of ranks.
  std::span<const VertexId> columns() const { return summed_columns_.span(); }
  std::span<const double> sums() const { return sums_.span(); }
  Index reallocations() const;

 private:
  RowRequests requests_;
  RowTable table_, summed_table_;
  Reusable<VertexId> columns_, summed_columns_;
  Reusable<double> values_, wanted_, asked_, sums_;
};

// How much the whole graph reads each vertex: ‖Â[:, u]‖², where Â is the adjacency as the model normalises
// it. FastGCN and GraphSAINT's vertex sampler draw by it.

/// Returns (owned) the norms of the rank's rows. Collective.
std::vector<double> column_norms(const SetInput& in);

/// Returns (owned) the squared factor that each of the rank's rows has as a source; empty: all 1.
std::vector<double> squared_source_factors(const SetInput& in);

/// An arc's term in its column's norm, without the source's factor.
double squared_entry(Normalisation normalisation, double weight, double degree);

}  // namespace atl
