// Which of a rank's vertices each step trains on: part by part, in an order that is drawn again each epoch.
//
// A step trains the same vertices of a part whichever rank owns it. The order is keyed by (seed, epoch, part)
// and computed place by place (draw_positions.h), and all ranks compute the same number of vertices for each
// part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/reusable.h"
#include "base/types.h"
#include "partition/prepared_graph.h"
#include "sampler/owners.h"
#include "tensor/matrix.h"

namespace atl {

// How many training vertices of each part each step of an epoch trains on.
//
// A step takes `batch size` vertices over all parts; the last step takes the rest. Parts give in proportion
// to what they have left, rounded by the largest remainder (Hamilton's method). So each vertex trains once
// per epoch, no part is asked for more than it has, and all ranks are busy until the last step. Shares depend
// on the parts alone, not on the ranks that own them.

/// Throws Error, which begins with `field`, unless there is at least one vertex in a step.
void check_batch_size(Index batch_size, const std::string& field);

class SeedShares {
 public:
  /// A part gives places begin … begin + count − 1 of its order.
  struct Share {
    Index begin = 0, count = 0;
  };
  /// training (parts): number of training vertices of each.
  SeedShares(std::vector<Index> training, Index batch_size);

  Index vertices() const { return vertices_; }
  std::int64_t steps() const { return (vertices_ + batch_size_ - 1) / batch_size_; }  // per epoch
  /// Vertices of step 0 … steps() − 1, over all parts.
  Index size(std::int64_t step) const;
  /// Returns the share of each part (parts); valid until the next call. Steps in ascending order cost O(parts
  /// log parts) each. A step before the last one asked for costs as much as all steps before it.
  std::span<const Share> of_step(std::int64_t step);

 private:
  void restart();
  void advance();

  std::vector<Index> training_;
  Index batch_size_, vertices_ = 0;
  std::int64_t step_ = 0;  // the step of `shares_`
  std::vector<Share> shares_;
  struct Remainder {
    std::int64_t rest;
    std::size_t part;
  };
  std::vector<Remainder> remainders_;
};

// Which of a rank's vertices a step trains on, and the number that their losses are divided by.

/// One per sampling thread, which alone calls of_step() and weigh(). Any thread may call the others.
class StepSeeds {
 public:
  virtual ~StepSeeds() = default;
  /// Steps per epoch. Step s of the run is step s % steps() of epoch s / steps().
  virtual std::int64_t steps() const = 0;
  /// Vertices of a step over all ranks, or their expected number: the divisor of the loss.
  virtual double size(std::int64_t step) const = 0;
  /// Fills `rows` with the rank's own seeds of the step. Collective.
  virtual void of_step(std::int64_t step, std::vector<VertexId>& rows) = 0;
  /// Fills weights (rows), the weight of each one's loss; empty: all 1.
  virtual void weigh(std::span<const VertexId> /*rows*/, Reusable<Real>& weights) const { weights.take(0); }
};

/// The training vertices of a rank's parts, as prepared rows, within each part in ascending order of the data
/// set's ids.
struct TrainingRows {
  int first_part = 0;
  std::vector<std::vector<VertexId>> by_part;  // entry i: rows of part first_part + i
};

/// trains(id) says whether this vertex of the data set is a training vertex; it is asked only for the rank's
/// own ones.
TrainingRows training_rows(const PreparedGraph& graph, const Owners& owners, Rank rank,
                           FunctionRef<bool(VertexId id)> trains);
/// The same for any rows that are ordered by part. `ids`: the data set's vertex of each.
TrainingRows training_rows(std::span<const Index> part_offsets, std::span<const VertexId> ids,
                           const Owners& owners, Rank rank, FunctionRef<bool(VertexId id)> trains);

class Seeds final : public StepSeeds {
 public:
  /// training (parts): training vertices of each part, the same on all ranks; own: this rank's.
  Seeds(std::vector<Index> training, TrainingRows own, Index batch_size, std::uint64_t seed);

  std::int64_t steps() const override { return shares_.steps(); }
  double size(std::int64_t step) const override { return double(shares_.size(step % steps())); }
  /// Rows come part by part, ascending, because neighbours in prepared order share neighbours and cache
  /// lines.
  void of_step(std::int64_t step, std::vector<VertexId>& rows) override;

 private:
  SeedShares shares_;
  TrainingRows own_;
  std::uint64_t seed_;
};

}  // namespace atl
