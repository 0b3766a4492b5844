// Which vertices each step trains on, as far as a rank owns them: part by part, in an order that is drawn anew each epoch.
//
// Whoever owns a part, the same of its vertices train in the same step: the order is keyed by (seed, epoch, part) and computed
// place by place (keyed_order.h), and how many a part gives is the same everywhere (seed_shares.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "partition/prepared_graph.h"
#include "sampler/owners.h"
#include "sampler/seed_shares.h"
#include "sampler/step_seeds.h"

namespace atl {

/// The training vertices of a rank's parts, as prepared rows; of each part in ascending order of the data set's ids.
struct TrainingRows {
  int first_part = 0;
  std::vector<std::vector<VertexId>> by_part;  // those of part first_part + i
};

/// trains(id): whether this vertex of the data set is a training vertex; asked for the rank's own ones alone.
TrainingRows training_rows(const PreparedGraph& graph, const Owners& owners, Rank rank,
                           FunctionRef<bool(VertexId id)> trains);
/// Of rows in such an order: part by part, with the data set's vertex of each.
TrainingRows training_rows(std::span<const Index> part_offsets, std::span<const VertexId> ids,
                           const Owners& owners, Rank rank, FunctionRef<bool(VertexId id)> trains);

class Seeds final : public StepSeeds {
 public:
  /// training: (parts) how many training vertices each part has, the same on all ranks; own: this rank's.
  Seeds(std::vector<Index> training, TrainingRows own, Index batch_size, std::uint64_t seed);

  std::int64_t steps() const override { return shares_.steps(); }
  double size(std::int64_t step) const override { return double(shares_.size(step % steps())); }
  /// Part by part, ascending: neighbours in prepared order share neighbours and cache lines.
  void of_step(std::int64_t step, std::vector<VertexId>& rows) override;

 private:
  SeedShares shares_;
  TrainingRows own_;
  std::uint64_t seed_;
};

}  // namespace atl
