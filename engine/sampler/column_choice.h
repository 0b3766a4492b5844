// Which feature columns of other ranks' rows are fetched, where it isn't all of them (DGS, Wan et al. 2022,
// section III-C): each rank chooses as many, and an owner knows what each rank that asks has chosen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sampler/remote_draws.h"

namespace atl {

/// ⌈rate · features⌉, at least 1.
Index chosen_columns(double rate, Index features);

class ColumnChoice {
 public:
  /// Of `features` columns, `chosen` by each rank: the first ones, until it is told others.
  ColumnChoice(int ranks, Index features, Index chosen);

  Index features() const { return features_; }
  Index chosen() const { return chosen_; }
  /// (chosen) ascending.
  std::span<const VertexId> of(Rank rank) const {
    return {columns_.data() + rank * chosen_, std::size_t(chosen_)};
  }

  /// The same for all ranks, drawn for this step: nobody needs to be told.
  void draw(std::uint64_t seed, std::int64_t step);
  /// Each rank tells all others its own: mine (chosen), ascending. Collective, on the lane and by the thread
  /// that fetch.
  void tell(Communicator& comm, std::span<const VertexId> mine);

 private:
  Index features_, chosen_;
  std::vector<VertexId> columns_;  // (ranks, chosen)
  std::vector<Message> sends_, receives_;
};

/// (chosen) the columns with the largest values, ascending; of equal ones the first.
void largest_columns(std::span<const Real> values, std::span<VertexId> chosen,
                     std::vector<VertexId>& scratch);

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
