// Chooses the feature columns that a rank fetches of other ranks' rows, where it doesn't fetch all (DGS, Wan
// et al. 2022, section III-C). All ranks choose the same number of columns, and an owner knows the choice of
// each rank that asks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sampler/draw_positions.h"

namespace atl {

/// ⌈rate · features⌉, at least 1.
Index chosen_columns(double rate, Index features);

class ColumnChoice {
 public:
  /// Each rank chooses `chosen` of `features` columns: the first ones, until draw() or exchange().
  ColumnChoice(int ranks, Index features, Index chosen);

  Index features() const { return features_; }
  Index chosen() const { return chosen_; }
  /// The rank's columns (chosen), ascending.
  std::span<const VertexId> of(Rank rank) const {
    return {columns_.data() + rank * chosen_, std::size_t(chosen_)};
  }

  /// Draws the step's columns, the same for all ranks, without a message.
  void draw(std::uint64_t seed, std::int64_t step);
  /// Each rank tells all others its choice: mine (chosen), ascending. Collective; called by the fetching
  /// thread on its lane.
  void exchange(Communicator& comm, std::span<const VertexId> mine);

 private:
  Index features_, chosen_;
  std::vector<VertexId> columns_;  // (ranks, chosen)
  std::vector<Message> sends_, receives_;
};

/// One per rank. Called by the one thread that makes the rank's batches.
class BatchMasks {
 public:
  struct Chosen {
    const NeighbourDraws* vertices = nullptr;  // null: all neighbours are drawn alike
    const ColumnChoice* columns = nullptr;     // null: all are fetched
  };
  virtual ~BatchMasks() = default;
  /// Called before the step's batch is made; valid until the next call. Collective.
  virtual Chosen of(std::int64_t step) = 0;
};

/// Columns drawn again for each step.
class RandomColumns final : public BatchMasks {
 public:
  RandomColumns(int ranks, Index features, double rate, std::uint64_t seed)
      : choice_(ranks, features, chosen_columns(rate, features)), seed_(seed) {}
  Chosen of(std::int64_t step) override {
    choice_.draw(seed_, step);
    return {nullptr, &choice_};
  }

 private:
  ColumnChoice choice_;
  std::uint64_t seed_;
};

}  // namespace atl
