// How many pairs of vertices each rank trains and measures in link prediction, and whose rows the pairs need.
// A plan's memory, time and bytes of pairs follow from these counts, which come from the run's own draws.
#pragma once

#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "plan/rank_shape.h"
#include "sampler/owners.h"
#include "sampler/pairs/pair_draws.h"

namespace atl {

/// The counts of one rank. "Own" pairs, edges and rows are this rank's.
struct PairSizes {
  Index rows = 0, vertices = 0;            // own rows, and vertices of all ranks
  Index edges = 0;                         // own training edges
  Index files = 0;                         // bytes of the data set's files of pairs
  Index graph = 0;                         // bytes of the PairGraph
  double epoch = 0, drawn = 0;             // own pairs in an epoch, and how many of them are negative
  Index measured = 0;                      // own validation and test pairs
  Index scored = 0;                        // own pairs in the larger of these two sets
  Index all_edges = 0, all_negatives = 0;  // over all ranks, in the larger set
  double scoring_rows_sent = 0, scoring_rows_requested = 0;  // rows, while both sets are scored
  Index scored_sets = 0, scored_slabs = 0;  // sets that are scored, and slabs of pairs in them
  /// The largest count of any training step or, for `scoring`, of any slab of pairs that are scored.
  struct Step {
    Index pairs = 0;
    Index ends = 0;    // distinct vertices among the pairs' ends, of any owner
    Index remote = 0;  // ends that other ranks own; an end met twice counts twice
    Index wanted = 0;  // the same ends, each counted once
    Index asked = 0;   // own rows that other ranks request
  };
  Step training{}, scoring{};
};

/// How many rows ranks request from each other for one step's pairs.
struct WantedRows {
  std::vector<std::vector<Index>> rows;  // (ranks, ranks): by the rank that asks and the owner
};

/// The counts of all ranks, filled in rank by rank and step by step.
class PairTally {
 public:
  /// `owners` outlives it.
  explicit PairTally(const Owners& owners);

  void add_graph(const PairGraph& graph, int negatives);
  /// Adds a rank's pairs of the present step; returns the rows of their ends, ascending.
  std::vector<VertexId> add_step(Rank rank, const StepPairs& pairs);
  /// Call after all ranks' pairs of a step.
  void end_step();
  /// Adds the data set's validation and test pairs. row_of: (vertices).
  void add_measured(const Dataset& dataset, std::span<const VertexId> row_of);

  const WantedRows& wanted() const { return wanted_; }
  const std::vector<PairSizes>& by_rank() const { return sizes_; }

 private:
  std::vector<VertexId> enter(Rank rank, const StepPairs& pairs, PairSizes::Step PairSizes::*most);
  void enter_asked(PairSizes::Step PairSizes::*most);
  void score(const std::vector<StepPairs>& by_rank);

  const Owners& owners_;
  WantedRows wanted_;
  std::vector<PairSizes> sizes_;
};

// Memory and work of link prediction's loss and metrics, beside the model's. The memory is that of pairs, of
// rows of their ends, and of scores.

/// Bytes of one rank; all 0 without task linkPrediction.
struct PairMemory {
  Index loaded = 0;   // training edges and measured pairs, from loading on
  Index mapped = 0;   // files of pairs, while they are read
  Index pairs = 0;    // `loaded`, the pairs of steps, and pages of the files that map vertices to rows
  Index ends = 0;     // rows of other ranks, and their gradients
  Index scoring = 0;  // the decoder's layers and the scores, on rank 0 those of all ranks
};

struct PairPlace {
  Rank rank = 0;
  int ranks = 1, threads = 1;
  bool batches = false;  // a step's pairs come with its batch
};

PairMemory pair_memory(const Job& job, const PairSizes& sizes, const PairPlace& place);

/// Work of an epoch's loss: gathering rows, the decoder's forward and backward, adding gradients to rows, and
/// drawing negative pairs.
EpochWork pair_work(const Job& job, const PairSizes& sizes);
/// Work of scoring the validation and test pairs. `root`: includes sorting the scores of all ranks.
EpochWork scoring_work(const Job& job, const PairSizes& sizes, bool root);

}  // namespace atl
