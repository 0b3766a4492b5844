// Which vertices each rank's batches are of in a plan: training vertices or, with task linkPrediction, ends of pairs. Those of the run.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "dataset/dataset.h"
#include "plan/batch_source.h"
#include "plan/dry_run.h"
#include "plan/pair_sizes.h"
#include "sampler/seeds.h"

namespace atl {

/// Of all ranks, one after the other or step by step. References outlive it.
class PlannedSeeds {
 public:
  PlannedSeeds(const Job& job, const Dataset& dataset, const BatchSource& source, const Owners& owners);

  /// Of an epoch.
  std::int64_t steps() const { return seeds_.front().steps(); }
  /// As Seeds::of_step, of any rank.
  void of_step(std::int64_t step, Rank rank, std::vector<VertexId>& rows);
  /// Of all parts, where batches are of training vertices; and how many each part has.
  const TrainingRows& training() const { return training_; }
  const std::vector<Index>& by_part() const { return by_part_; }
  /// What the ranks tell each other of a step's pairs: rows that they want. Nothing without pairs.
  const WantedRows& wanted(std::int64_t step);
  /// Over the steps that were drawn. None without pairs.
  const std::vector<PairSizes>& pair_sizes() const { return counts_.by_rank(); }

 private:
  void draw_pairs(std::int64_t step);

  const Owners& owners_;
  std::vector<VertexId> row_of_;                    // (vertices), with pairs
  std::vector<std::unique_ptr<PairGraph>> graphs_;  // by rank, likewise
  std::vector<PairDraws> draws_;
  std::vector<Seeds> seeds_;  // by rank
  TrainingRows training_{0, {}};
  std::vector<Index> by_part_;
  std::int64_t drawn_ = -1;                  // the step of what follows
  std::vector<std::vector<VertexId>> ends_;  // by owner, ascending
  PairTally counts_;
};

/// Bytes that rank `from` sends for a step's pairs, as link prediction trains: which rows it wants, rows, and gradients.
struct PairBytesSent {
  double rows = 0, gradients = 0;
};
PairBytesSent pair_bytes(const WantedRows& wanted, Rank from, Rank to, Index width);

/// Adds them to what a rank sends in an epoch; `between`: servers.
void enter_pairs(const PairBytesSent& sent, bool between, DryRun& run);

/// The same of a strategy with a part a rank, whose steps all take the same edges: wishes are those of the first.
struct PartPairs {
  WantedRows wanted;
  std::vector<PairSizes> sizes;  // by rank
};
PartPairs pairs_of_parts(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                         const PartRanks& ranks);

}  // namespace atl
