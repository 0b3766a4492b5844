// How many pairs of vertices each rank has where link prediction trains and measures, and whose rows they
// need: what a plan's memory, time and bytes of them follow from. Counted from the run's own draws.
#pragma once

#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "plan/rank_shape.h"
#include "sampler/owners.h"
#include "sampler/pairs/pair_draws.h"

namespace atl {

/// Of one rank.
struct PairSizes {
  Index rows = 0, vertices = 0;            // own ones, and all
  Index edges = 0;                         // own training edges
  Index files = 0;                         // bytes of the data set's files of pairs
  Index graph = 0;                         // bytes of the PairGraph
  double epoch = 0, drawn = 0;             // own pairs of an epoch, and the negative ones of them
  Index measured = 0;                      // own validation and test pairs, …
  Index scored = 0;                        // … of the larger set, …
  Index all_edges = 0, all_negatives = 0;  // … which has so many over all ranks
  double asked_in_all = 0;  // rows that it sends while both sets are scored, and those that it asks for
  double wanted_in_all = 0;
  Index sets = 0, pieces = 0;  // that are scored, one piece after the other
  /// The most of any step, or of any slab of pairs that are scored.
  struct Step {
    Index pairs = 0;
    Index ends = 0;    // vertices among their ends, of any owner
    Index remote = 0;  // ends that others own, one that is met twice counted twice …
    Index wanted = 0;  // … and once
    Index asked = 0;   // own rows that others want
  };
  Step training{}, scoring{};
};

/// What the ranks ask of each other for one step's pairs.
struct WantedRows {
  std::vector<std::vector<Index>> rows;  // (ranks, ranks): by who asks and of whom
};

/// Of all ranks, filled in rank by rank and step by step.
class PairTally {
 public:
  /// Outlives it.
  explicit PairTally(const Owners& owners);

  void add_graph(const PairGraph& graph, int negatives);
  /// A rank's pairs of the step at hand; returns the rows of their ends, ascending.
  std::vector<VertexId> add_step(Rank rank, const StepPairs& pairs);
  /// After all ranks' pairs of a step.
  void end_step();
  /// Of the data set's validation and test pairs; row_of (vertices).
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

// What link prediction's loss and its metrics take beside the model: memory of pairs, of the rows of their
// ends and of their scores, and work.

/// Of one rank; nothing without task linkPrediction.
struct PairMemory {
  Index loaded = 0;   // training edges and pairs that are measured: from loading on
  Index mapped = 0;   // files of pairs, while they are read
  Index pairs = 0;    // with it the pairs of steps, and pages of the files that say which vertex is which row
  Index ends = 0;     // rows of other ranks, and their gradients
  Index scoring = 0;  // the decoder's layers, scores, and on rank 0 those of all ranks
};

struct PairPlace {
  Rank rank = 0;
  int ranks = 1, threads = 1;
  bool batches = false;  // the pairs of a step come with its batch
};

PairMemory pair_memory(const Job& job, const PairSizes& sizes, const PairPlace& place);

/// Of an epoch's loss: rows gathered and gradients added to them, the decoder there and back, and negative
/// pairs drawn.
EpochWork pair_work(const Job& job, const PairSizes& sizes);
/// Of both sets that are measured; `root`: with the sorting of all scores.
EpochWork scoring_work(const Job& job, const PairSizes& sizes, bool root);

}  // namespace atl
