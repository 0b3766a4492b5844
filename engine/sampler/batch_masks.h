// What the batches of a step read of other ranks: how their vertices are drawn, and which of their features are fetched.
#pragma once

#include <cstdint>

#include "sampler/column_choice.h"
#include "sampler/remote_draws.h"

namespace atl {

/// One per rank. Calls come from the one thread that makes its batches.
class BatchMasks {
 public:
  struct Chosen {
    const RemoteDraws* vertices = nullptr;  // null: all neighbours are drawn alike
    const ColumnChoice* columns = nullptr;  // null: all are fetched
  };
  virtual ~BatchMasks() = default;
  /// Before that step's batch is made; valid until the next call. Collective.
  virtual Chosen of(std::int64_t step) = 0;
};

/// Columns that are drawn anew for each step.
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
