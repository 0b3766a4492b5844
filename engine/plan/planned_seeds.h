// The vertices that each rank's batches are made for in a plan: training vertices or, with task
// linkPrediction, ends of pairs. A run draws the same vertices.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "dataset/dataset.h"
#include "plan/batch_source.h"
#include "plan/dry_run.h"
#include "plan/pair_sizes.h"
#include "sampler/batch_sampling.h"
#include "sampler/seeds.h"

namespace atl {

/// Seeds of all ranks, asked for rank by rank or step by step. References outlive it.
class PlannedSeeds {
 public:
  PlannedSeeds(const Job& job, const Dataset& dataset, const BatchSource& source, const Owners& owners);

  /// Steps of an epoch.
  std::int64_t steps() const { return seeds_.front().steps(); }
  /// As Seeds::of_step, for any rank.
  void of_step(std::int64_t step, Rank rank, std::vector<VertexId>& rows);
  /// Training vertices of all parts, if batches are made for these; by_part(): how many each part has.
  const TrainingRows& training() const { return training_; }
  const std::vector<Index>& by_part() const { return by_part_; }
  /// The rows that ranks ask each other for, for a step's pairs. Empty without pairs.
  const WantedRows& wanted(std::int64_t step);
  /// Counts over the steps drawn so far. Empty without pairs.
  const std::vector<PairSizes>& pair_sizes() const { return counts_.by_rank(); }

 private:
  void draw_pairs(std::int64_t step);

  const Owners& owners_;
  std::vector<VertexId> row_of_;                    // (vertices), with pairs
  std::vector<std::unique_ptr<PairGraph>> graphs_;  // by rank, with pairs
  std::vector<PairDraws> draws_;
  std::vector<Seeds> seeds_;  // by rank
  TrainingRows training_{0, {}};
  std::vector<Index> by_part_;
  std::int64_t drawn_ = -1;                  // the step that the following members belong to
  std::vector<std::vector<VertexId>> ends_;  // by owner, ascending
  PairTally counts_;
};

/// Bytes that rank `from` sends to rank `to` for a step's pairs in training: requests for rows, rows, and
/// gradients.
struct PairBytesSent {
  double rows = 0, gradients = 0;
};
PairBytesSent pair_bytes(const WantedRows& wanted, Rank from, Rank to, Index width);

/// Adds the bytes to what a rank sends in an epoch; `between`: the peer is on another server.
void enter_pairs(const PairBytesSent& sent, bool between, DryRun& run);

/// Pairs of a strategy that trains one part per rank: all steps take the same edges, and `wanted` is the
/// first step's.
struct PartPairs {
  WantedRows wanted;
  std::vector<PairSizes> sizes;  // by rank
};
PartPairs pairs_of_parts(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                         const PartRanks& ranks);

// The sets of vertices that a step's batches may read, in a plan of jobs whose samplers draw such sets. One
// rank that owns all vertices draws them once. Draws are keyed, so a run's ranks together draw the same sets.

/// Neither copyable nor movable. References outlive it.
class PlannedSets final : public StepSets {
 public:
  /// `options` has sets and, in `sampling`, the model's needs. `training`: the training vertices of all
  /// parts.
  PlannedSets(const BatchSource& source, const BatchSamplingOptions& options, const TrainingRows& training,
              const std::vector<Index>& training_by_part);

  /// Ignores `seeds`, because this class knows the seeds of all ranks.
  void draw(std::int64_t step, std::span<const VertexId> seeds) override;
  const KeptArcs& of_layer(int layer) const override { return sets_->of_layer(layer); }
  /// Seeds of all ranks; null: batches are made for the training vertices.
  StepSeeds* seeds() override { return sets_->seeds(); }
  Index reallocations() const override { return sets_->reallocations(); }
  void count_sent(const Owners& ranks, Sent sent) const override { sets_->count_sent(ranks, sent); }

 private:
  Owners owner_;  // owns all vertices
  Communicator comm_;
  ThreadPool pool_{1};
  std::unique_ptr<Structure> structure_;
  const TrainingRows training_;
  Seeds all_;  // the training vertices of all parts, in batches
  std::vector<VertexId> rows_;
  std::unique_ptr<StepSets> sets_;
};

/// The seeds of one rank: the vertices of the step's seeds (StepSets::seeds) that the rank owns. References
/// outlive it.
class OwnSeeds final : public StepSeeds {
 public:
  OwnSeeds(StepSeeds& all, const Owners& owners, Rank rank) : all_(all), owners_(owners), rank_(rank) {}
  std::int64_t steps() const override { return all_.steps(); }
  double size(std::int64_t step) const override { return all_.size(step); }
  void of_step(std::int64_t step, std::vector<VertexId>& rows) override;

 private:
  StepSeeds& all_;
  const Owners& owners_;
  Rank rank_;
};

}  // namespace atl
