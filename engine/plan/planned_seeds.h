// Which vertices each rank's batches are of in a plan: training vertices or, with task linkPrediction, ends
// of pairs. Those of the run.
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

/// Bytes that rank `from` sends for a step's pairs, as link prediction trains: which rows it wants, rows, and
/// gradients.
struct PairBytesSent {
  double rows = 0, gradients = 0;
};
PairBytesSent pair_bytes(const WantedRows& wanted, Rank from, Rank to, Index width);

/// Adds them to what a rank sends in an epoch; `between`: servers.
void enter_pairs(const PairBytesSent& sent, bool between, DryRun& run);

/// The same of a strategy with a part a rank, whose steps all take the same edges: wishes are those of the
/// first.
struct PartPairs {
  WantedRows wanted;
  std::vector<PairSizes> sizes;  // by rank
};
PartPairs pairs_of_parts(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                         const PartRanks& ranks);

// What a step's batches may read, in a plan of jobs whose samplers draw sets of vertices: drawn once for all
// ranks, as one rank that owns all would, which by their keys is what the ranks draw together.

/// Neither copyable nor movable. References outlive it.
class PlannedSets final : public StepSets {
 public:
  /// options: with sets, and with what the model says of `sampling`. training: of all parts.
  PlannedSets(const BatchSource& source, const BatchSamplingOptions& options, const TrainingRows& training,
              const std::vector<Index>& training_by_part);

  /// seeds: any rank's; those of all ranks are known here.
  void draw(std::int64_t step, std::span<const VertexId> seeds) override;
  const KeptArcs& of_layer(int layer) const override { return sets_->of_layer(layer); }
  /// Null: batches of the training vertices are trained on. Else of all ranks.
  StepSeeds* seeds() override { return sets_->seeds(); }
  Index reallocations() const override { return sets_->reallocations(); }
  void count_sent(const Owners& ranks, Sent sent) const override { sets_->count_sent(ranks, sent); }

 private:
  Owners owner_;  // of all
  Communicator comm_;
  ThreadPool pool_{1};
  std::unique_ptr<Structure> structure_;
  const TrainingRows training_;
  Seeds all_;  // training vertices in batches
  std::vector<VertexId> rows_;
  std::unique_ptr<StepSets> sets_;
};

/// The own ones among the vertices that sets say a step trains on. References outlive it.
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
