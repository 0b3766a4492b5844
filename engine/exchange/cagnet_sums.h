// What the ranks of a row of CAGNET's grid have summed, added up: each aggregates all of the row's vertices over its column's
// sources (Tripathy et al. 2020, section IV-B). The paper's all-reduce in its two halves, each where it is needed: sums are
// added at the rank that owns the vertices, and their gradients are spread over the row on the way back.
#pragma once

#include "exchange/exchange.h"
#include "exchange/wire.h"
#include "job/strategies/cagnet_grid.h"

namespace atl {

/// One per exchange; references outlive it. Calls are collective over the row.
class CagnetSums {
 public:
  CagnetSums(Context& ctx, Communicator& comm, const GraphPart& part, const CagnetGrid& grid, Precision wire);

  /// (the row's vertices, cols): sums over this column's sources; valid until the next call.
  MatrixView partial(Index cols) const;
  /// sum.target (owned, cols) becomes, or where it is begun grows by, the sum of all ranks' partial sums of own vertices, added
  /// in the order of columns. `partial` isn't whole any more.
  void merge(Traffic purpose, MatrixView partial, const Sum& sum);
  /// (the row's vertices, cols): the gradients sum.d_target (owned, cols) of all ranks of the row; valid until the next call.
  ConstMatrixView spread(const SumGradient& sum);

 private:
  struct Member {
    Rank rank = 0;
    Index begin = 0, count = 0;  // its vertices among the row's
  };

  Context& ctx_;
  Communicator& comm_;
  Wire wire_;
  std::vector<Member> members_;            // by column
  std::size_t own_ = 0;                    // among them
  Index vertices_ = 0;                     // of the row
  std::vector<Message> sends_, receives_;  // of the present call, kept for their memory
  std::vector<MatrixView> terms_;          // that merge() adds, by column
};

}  // namespace atl
