// Sums by column of the adjacency, whose rows are distributed. Each rank adds the values of its rows' arcs,
// and the column's owner gets the sum over ranks.
#pragma once

#include <span>

#include "graph/row_table.h"
#include "sampler/owners.h"
#include "sampler/step_sets.h"

namespace atl {

/// One per sampling thread. Both arguments outlive it.
class ColumnSums {
 public:
  ColumnSums(const Owners& owners, Communicator& comm) : requests_(owners, comm) {}

  void clear();
  void add(VertexId column, double value);
  /// Sends each column's value to its owner. Collective.
  void sum();
  /// After sum(): this rank's columns to which any rank added, and their sums, in rank order.
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

/// Returns (owned) the rank's rows' factors as sources, squared; empty: all 1.
std::vector<double> squared_source_factors(const SetInput& in);

/// An arc's term in its column's norm, without the source's factor.
double squared_entry(Normalisation normalisation, double weight, double degree);

}  // namespace atl
