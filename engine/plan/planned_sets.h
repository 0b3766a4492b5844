// What a step's batches may read, in a plan of jobs whose samplers draw sets of vertices: drawn once for all ranks, as one rank that owns
// all would, which by their keys is what the ranks draw together.
#pragma once

#include <memory>

#include "plan/batch_source.h"
#include "sampler/batch_sampling.h"

namespace atl {

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
  Index growths() const override { return sets_->growths(); }
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
