// Whom a batch of link prediction computes: the ends of the step's pairs, each by the rank that owns it. Ranks tell each other which ends
// they want.
#pragma once

#include <vector>

#include "sampler/pairs/pair_draws.h"
#include "sampler/row_requests.h"

namespace atl {

/// One per sampling thread. Calls are collective.
class PairEnds {
 public:
  /// Both outlive it.
  PairEnds(const PairGraph& graph, int negatives, std::uint64_t seed, Communicator& comm)
      : draws_(graph, negatives, seed), comm_(comm), requests_(graph.owners(), comm) {}

  /// edges: numbers of own edges of the step, all_edges over all ranks. pairs: the rank's own. rows: own rows that are an end of some
  /// rank's pair, ascending.
  void of_step(std::int64_t step, std::span<const VertexId> edges, Index all_edges, StepPairs& pairs,
               std::vector<VertexId>& rows);
  Index growths() const { return requests_.growths(); }

 private:
  PairDraws draws_;
  Communicator& comm_;
  RowRequests requests_;
  std::vector<VertexId> wanted_;
};

}  // namespace atl
