// Which rows of other ranks a cache that doesn't change should hold: those with the most neighbours, who are drawn most often, or
// those that a few steps of sampling did draw most often.
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.h"
#include "graph/row_table.h"
#include "sampler/owners.h"
#include "sampler/pairs/pair_ends.h"
#include "sampler/row_draws.h"
#include "sampler/sampler.h"
#include "sampler/seeds.h"

namespace atl {

/// About `count` rows of other ranks in descending order of degree. Each rank nominates some of its own; collective, and called by
/// the compute thread.
std::vector<VertexId> rows_by_degree(const DrawnGraph& graph, const Owners& owners, Communicator& comm,
                                     Index count);

/// Counts what batches read of other ranks. Memory grows with the rows that they do read.
class RequestCounts {
 public:
  RequestCounts(const Owners& owners, Rank rank);
  void add(std::span<const VertexId> rows);
  /// In descending order of how often they were read.
  std::vector<VertexId> rows() const;

 private:
  const Owners& owners_;
  Rank rank_;
  RowTable table_;
  struct Count {
    VertexId row;
    std::int32_t count;
  };
  std::vector<Count> counts_;
};

/// The same for the batches of the run's first `steps` steps. Collective; the caller is the sampling thread. `pairs`: as batch_maker() has
/// them.
std::vector<VertexId> rows_by_presampling(StepSeeds& seeds, Sampler& sampler, const Owners& owners, Rank rank,
                                          std::int64_t steps, PairEnds* pairs = nullptr);

}  // namespace atl
