#include "plan/planned_sets.h"

#include "plan/dry_transport.h"

namespace atl {

PlannedSets::PlannedSets(const BatchSource& source, const BatchSamplingOptions& options,
                         const TrainingRows& training, const std::vector<Index>& training_by_part)
    : owner_(source.part_offsets(), 1),
      comm_(make_dry_transport(0, {"here"})),
      structure_(source.structure(pool_)),
      training_(training),
      all_(training_by_part, training, options.batch_size, options.sampling.seed) {
  const SamplingOptions& sampling = options.sampling;
  sets_ = options.sets({.own_rows = *structure_,
                        .owners = owner_,
                        .comm = comm_,
                        .ids = source.ids(),
                        .training = training_,
                        .training_by_part = training_by_part,
                        .layers = int(sampling.fanout.size()),
                        .normalisation = sampling.normalisation,
                        .attention = sampling.attention,
                        .seed = sampling.seed,
                        .options = options.set_options});
}

void PlannedSets::draw(std::int64_t step, std::span<const VertexId>) {
  if (sets_->seeds() == nullptr) all_.of_step(step, rows_);
  sets_->draw(step, rows_);
}

void OwnSeeds::of_step(std::int64_t step, std::vector<VertexId>& rows) {
  all_.of_step(step, rows);
  std::erase_if(rows, [&](VertexId row) { return !owners_.owns(rank_, row); });
}

}  // namespace atl
