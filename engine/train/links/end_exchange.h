// The rows of the ends of pairs, where other ranks have them: each is fetched from its owner once, and its gradient goes back there. As
// halo rows, but who wants which is another thing in each step.
#pragma once

#include <vector>

#include "model/decoder.h"
#include "sampler/pairs/step_pairs.h"
#include "sampler/row_requests.h"

namespace atl {

class EndExchange final : public PairPieces {
 public:
  /// Both outlive it. Collective calls, by the compute thread.
  EndExchange(const Owners& owners, Communicator& comm);

  /// Of the rank's pairs: `place_of` (own rows) says which row of `rows` an own row is. `rows` (any, width) are in the host's memory. All
  /// outlive the calls that follow.
  void fetch(Traffic purpose, const StepPairs& pairs, std::span<const VertexId> place_of,
             ConstMatrixView rows);
  EndRows rows() const { return {own_, sent_.view()}; }
  /// Of those pairs.
  Index size() const override { return pairs_->size(); }
  EndPairs piece(Index begin, Index count) override;

  /// Where gradients are added to: `own` (as `rows`), and those of other ranks' rows, which begin at 0.
  EndGradients gradients(MatrixView own);
  /// After that: adds to `own` what other ranks have for its rows, in the order of ranks.
  void give_back(MatrixView own);

  Index growths() const { return source_.growths() + destination_.growths() + requests_.growths(); }

 private:
  VertexId number_of(VertexId row) const;

  const Owners& owners_;
  Communicator& comm_;
  RowRequests requests_;
  std::vector<VertexId> wanted_;             // other ranks' rows, ascending
  std::vector<VertexId> number_of_;          // (wanted) which row of sent_ each is
  std::vector<VertexId> asked_;              // rows of `rows` that others want, grouped by rank
  Recycled<VertexId> source_, destination_;  // of a piece
  const StepPairs* pairs_ = nullptr;
  std::span<const VertexId> place_of_;
  ConstMatrixView own_;
  Matrix sent_, d_sent_;  // (wanted, width), grouped by owner
  Matrix out_, d_out_;    // (asked, width)
};

}  // namespace atl
