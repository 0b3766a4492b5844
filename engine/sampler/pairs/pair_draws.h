// The pairs of a step: the training edges that it takes, and the negative pairs drawn for it.
//
// A negative pair's source is uniform over all vertices. Its destination is uniform over the vertices that no
// training edge joins with the source. Each rank draws only its own vertices' negatives, so a step's
// negatives are dealt out. Every vertex gets the same number, and the vertices that come first in a random
// order, keyed by (seed, step), get one more. A destination is keyed by (seed, step, source, number). So no
// pair depends on ranks, parts or threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampler/owners.h"
#include "sampler/pairs/pair_graph.h"

namespace atl {

class PairDraws {
 public:
  /// `negatives`: negative pairs per edge. The graph outlives it.
  PairDraws(const PairGraph& graph, int negatives, std::uint64_t seed)
      : graph_(graph), negatives_(negatives), seed_(seed) {}

  /// Draws step s of the run, counted from 0. edges: numbers of own edges that the step takes; all_edges: how
  /// many it takes over all ranks.
  void draw(std::int64_t step, std::span<const VertexId> edges, Index all_edges, StepPairs& pairs);
  /// The same for a step that takes all edges.
  void draw_all(std::int64_t step, StepPairs& pairs);

 private:
  Index begin(std::int64_t step, Index edges, Index all_edges, StepPairs& pairs);
  void draw_sources(std::int64_t step, Index more);
  void draw_negatives(std::int64_t step, Index count, StepPairs& pairs) const;
  VertexId destination(std::int64_t step, VertexId source_row, std::uint64_t number) const;

  const PairGraph& graph_;
  int negatives_;
  std::uint64_t seed_;
  std::vector<VertexId> sources_;  // own rows that get one more negative pair, ascending
};

// Which vertices a batch of link prediction computes: each rank computes those ends of the step's pairs that
// are its own vertices. Ranks tell each other which ends they want.

/// One per sampling thread. Calls are collective.
class PairEnds {
 public:
  /// The graph and comm outlive it.
  PairEnds(const PairGraph& graph, int negatives, std::uint64_t seed, Communicator& comm)
      : draws_(graph, negatives, seed), comm_(comm), requests_(graph.owners(), comm) {}

  /// `edges`: numbers of the step's own edges. `all_edges`: how many edges the step takes over all ranks.
  /// Fills `pairs` with the rank's own pairs, and `rows` with the own rows that are an end of any rank's
  /// pair, ascending.
  void of_step(std::int64_t step, std::span<const VertexId> edges, Index all_edges, StepPairs& pairs,
               std::vector<VertexId>& rows);
  Index reallocations() const { return requests_.reallocations(); }

 private:
  PairDraws draws_;
  Communicator& comm_;
  RowRequests requests_;
  std::vector<VertexId> wanted_;
};

}  // namespace atl
