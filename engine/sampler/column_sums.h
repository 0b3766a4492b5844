// Sums by column of the adjacency, whose rows lie at their owners: each rank adds what its rows' arcs have
// for a column, and the column's owner gets the sum over ranks.
#pragma once

#include <span>

#include "graph/row_table.h"
#include "sampler/row_requests.h"
#include "sampler/step_sets.h"

namespace atl {

/// One per sampling thread. Both arguments outlive it.
class ColumnSums {
 public:
  ColumnSums(const Owners& owners, Communicator& comm) : requests_(owners, comm) {}

  void clear();
  void add(VertexId column, double value);
  /// Sends the others what they own. Collective.
  void sum();
  /// After sum(): this rank's columns that somebody added to, and their sums, added in the order of ranks.
  std::span<const VertexId> columns() const { return summed_columns_.span(); }
  std::span<const double> sums() const { return sums_.span(); }
  Index reallocations() const;

 private:
  RowRequests requests_;
  RowTable table_, summed_table_;
  Reusable<VertexId> columns_, summed_columns_;
  Reusable<double> values_, wanted_, asked_, sums_;
};

// How much each vertex is read by the whole graph: ‖Â[:, u]‖², by which FastGCN and GraphSAINT's vertex
// sampler draw (Â: the adjacency as the model normalises it).

/// (owned) of the rank's rows. Collective.
std::vector<double> column_norms(const SetInput& in);

/// (owned) the factors of the rank's rows as sources, squared; empty: all 1.
std::vector<double> squared_source_factors(const SetInput& in);

/// An arc's part in its column's norm, but for the source's factor.
double squared_entry(Normalisation normalisation, double weight, double degree);

}  // namespace atl
