// How often vertices, and the two ends of arcs, are drawn together, counted over subgraphs that are drawn before training: what a sampler
// corrects by whose probabilities aren't known in closed form (GraphSAINT, section 3.2).
#pragma once

#include <vector>

#include "graph/row_table.h"
#include "sampler/own_rows.h"

namespace atl {

/// Of a rank's own rows and their arcs: 12 bytes per row, and 4 per arc.
class DrawnTogether {
 public:
  explicit DrawnTogether(const SetInput& in);

  /// One subgraph's vertices, on all ranks. Rows of the rank are counted.
  void count(std::span<const VertexId> rows);
  Index subgraphs() const { return subgraphs_; }
  /// Of an own row: P that a subgraph has it; never 0.
  double presence(VertexId row) const { return double(times(row)) / double(std::max<Index>(1, subgraphs_)); }
  /// P(row) / P(row and its arc's source); never 0.
  float inverse_alpha(VertexId row, Index place) const {
    const auto together = arcs_[std::size_t(offsets_[std::size_t(row - first_)] + place)];
    return float(double(times(row)) / double(std::max(1U, together)));
  }

 private:
  std::uint32_t times(VertexId row) const { return std::max(1U, rows_[std::size_t(row - first_)]); }

  const SetInput in_;
  const VertexId first_;        // own row
  std::vector<Index> offsets_;  // (owned + 1) where each row's arcs begin
  std::vector<std::uint32_t> rows_, arcs_;
  Index subgraphs_ = 0;
  RowTable table_;
  std::vector<VertexId> own_;
  DrawnArcs drawn_;
};

}  // namespace atl
