// What a rank holds of a data set's edge split: the training edges that begin at its vertices, and likewise the pairs that validate and test.
#pragma once

#include "job/job.h"
#include "partition/part_ranks.h"
#include "sampler/pairs/pair_graph.h"
#include "sampler/pairs/step_pairs.h"

namespace atl {

class LinkData {
 public:
  /// Without an edge split there are no pairs. `parts`: which part each rank has, of a strategy with a part a rank; `batches`: consecutive parts each. All outlive it.
  LinkData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
           const PartRanks& parts, bool batches);
  LinkData(const LinkData&) = delete;

  const PairGraph& graph() const { return graph_; }
  /// Edges and their negative pairs; totals are over all ranks.
  struct Measured {
    StepPairs pairs;                  // own ones
    Index most = 0;                   // pairs of the rank that has the most
    double edges = 0, negatives = 0;  // over all ranks
  };
  const Measured& validation() const { return validation_; }
  const Measured& test() const { return test_; }
  /// Pairs that an epoch trains on, over all ranks.
  double training_pairs() const { return double(graph_.all_edges()) * (1 + negatives_); }

 private:
  void read(const Dataset& dataset, PairSet edges, PairSet negatives, Measured& into) const;

  int negatives_;
  PairGraph graph_;
  Measured validation_, test_;
};

}  // namespace atl
