// Random walks that all ranks take together. Every rank knows where each walk is, and the owner of that
// vertex draws the next step.
#pragma once

#include <vector>

#include "graph/row_table.h"
#include "sampler/gathered.h"
#include "sampler/own_rows.h"
#include "sampler/step_sets.h"

namespace atl {

/// One per sampling thread.
class Walks {
 public:
  /// `count` walks of `length` steps; each starts at any vertex with equal probability. A step goes to any
  /// neighbour other than the vertex itself, with equal probability; without such a neighbour the walk stays.
  Walks(const SetInput& in, Index count, int length);

  /// The vertices that the walks visited, each once, ascending; depends on `draws` alone. The same on all
  /// ranks; valid until the next call. Collective.
  std::span<const VertexId> draw(const Draws& draws);
  Index reallocations() const;
  /// Calls `sent` for each message that the last draw() would send if `ranks` walked together.
  void count_sent(const Owners& ranks, StepSets::Sent sent) const;

 private:
  std::span<VertexId> at(int step) {
    return at_.span().subspan(std::size_t(step * count_), std::size_t(count_));
  }
  VertexId next_of(Index number, std::uint64_t bits);
  void take_step(const Draws& draws, int step);

  const SetInput in_;
  const Index count_;
  const int length_;
  Reusable<VertexId> at_;  // (length + 1, count)
  RowTable table_;
  Reusable<VertexId> here_, next_;  // own rows at which walks are; the next vertices of these walks
  DrawnArcs arcs_;
  Reusable<VertexId> others_;       // the neighbours of a row
  AllGathered<VertexId> gathered_;  // next vertices of all walks, rank by rank
  std::vector<Index> read_;         // (ranks) how much of each rank's list was read
  Reusable<VertexId> visited_;
};

// Counts how often each vertex, and both ends of each arc, are in subgraphs that are drawn before training. A
// sampler whose probabilities have no closed form corrects its bias with these counts (GraphSAINT, section
// 3.2).

/// Counts for a rank's own rows and their arcs. Takes 12 bytes per row and 4 per arc.
class DrawnTogether {
 public:
  explicit DrawnTogether(const SetInput& in);

  /// Counts the rank's rows among one subgraph's vertices, which are the same on all ranks.
  void count(std::span<const VertexId> rows);
  Index subgraphs() const { return subgraphs_; }
  /// The probability that a subgraph has this own row; never 0.
  double presence(VertexId row) const { return double(times(row)) / double(std::max<Index>(1, subgraphs_)); }
  /// P(row) / P(row and the source of its arc at `place`); never 0.
  float inverse_alpha(VertexId row, Index place) const {
    const auto together = arcs_[std::size_t(offsets_[std::size_t(row - first_)] + place)];
    return float(double(times(row)) / double(std::max(1U, together)));
  }

 private:
  std::uint32_t times(VertexId row) const { return std::max(1U, rows_[std::size_t(row - first_)]); }

  const SetInput in_;
  const VertexId first_;        // the first own row
  std::vector<Index> offsets_;  // (owned + 1) where each row's arcs begin
  std::vector<std::uint32_t> rows_, arcs_;
  Index subgraphs_ = 0;
  RowTable table_;
  std::vector<VertexId> own_;
  DrawnArcs drawn_;
};

}  // namespace atl
