// A row of CAGNET's grid (Tripathy et al. 2020, section IV-B): its ranks aggregate for each other, each all of the row's vertices
// over its column's sources. What they have made of a vertex goes to its owner, and what the owner knows of it to all of them: the
// two halves of the paper's all-reduce, each where it is needed.
#pragma once

#include "strategies/exchange/exchange.h"
#include "strategies/exchange/wire.h"
#include "job/strategies/cagnet_grid.h"

namespace atl {

/// One per exchange; references outlive it. Calls are collective over the row; a transfer ends before the next is started.
class CagnetRow {
 public:
  CagnetRow(Context& ctx, Communicator& comm, const GraphPart& part, const CagnetGrid& grid);

  Index vertices() const {
    return vertices_;
  }  // of all ranks of the row, those of a rank together, by column
  /// Those of `of_row` (vertices, cols) that this rank owns.
  MatrixView own(MatrixView of_row) const;

  /// Starts to bring every vertex's row of all ranks' `partial` (vertices, cols) to its owner. `partial` isn't whole any more.
  Event collect(Traffic purpose, const Wire& wire, MatrixView partial);
  /// What has arrived then, (owned, cols) from each rank of the row, in the order of columns; valid until the next transfer.
  std::span<const MatrixView> terms(const Wire& wire) const;

  /// Starts to bring each rank's own rows of `of_row` (vertices, cols) to all others of the row.
  Event spread(Traffic purpose, const Wire& wire, MatrixView of_row);
  /// Makes whole what has arrived then.
  void unpack(const Wire& wire, MatrixView of_row) const;

 private:
  struct Member {
    Rank rank = 0;
    Index begin = 0, count = 0;  // its vertices among the row's
  };
  MatrixView rows_of(const Member& member, MatrixView of_row) const {
    return of_row.slice_rows(member.begin, member.count);
  }

  Context& ctx_;
  Communicator& comm_;
  std::vector<Member> members_;  // by column
  std::size_t own_ = 0;          // among them
  Index vertices_ = 0;
  std::vector<Message> sends_, receives_;  // of the present transfer, kept for their memory
  std::vector<MatrixView> terms_;          // by column
};

}  // namespace atl
