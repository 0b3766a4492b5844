// Which feature columns of other ranks' rows are fetched, where it isn't all of them (DGS, Wan et al. 2022, section III-C): each rank
// chooses as many, and an owner knows what each rank that asks has chosen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"

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
  /// Each rank tells all others its own: mine (chosen), ascending. Collective, on the lane and by the thread that fetch.
  void tell(Communicator& comm, std::span<const VertexId> mine);

 private:
  Index features_, chosen_;
  std::vector<VertexId> columns_;  // (ranks, chosen)
  std::vector<Message> sends_, receives_;
};

/// (chosen) the columns with the largest values, ascending; of equal ones the first.
void largest_columns(std::span<const Real> values, std::span<VertexId> chosen,
                     std::vector<VertexId>& scratch);

}  // namespace atl
