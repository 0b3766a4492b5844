// The two directions in which boundary rows travel: a layer's rows to the ranks that read them, and gradients of halo rows back
// to their owners. What is done with them, and when they are waited for, is each exchange's own.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "partition/local_graph.h"
#include "tensor/kernels.h"

namespace atl {

/// One per exchange; references outlive it. Calls are collective.
class HaloTransfer {
 public:
  HaloTransfer(Context& ctx, Communicator& comm, const LocalGraph& graph);

  /// Rows that one layer sends: a boundary row counts once for each rank that reads it.
  Index sent_rows() const { return sent_rows_; }

  /// Packs the boundary rows of `rows` (owned, cols) into `packed` (sent_rows, cols) and starts the exchange; `halo`
  /// (halo, cols) is whole at the event, and both stay put until then.
  Event fetch(Traffic purpose, ConstMatrixView rows, MatrixView packed, MatrixView halo);
  /// Starts the way back: d_halo (halo, cols) goes out, received (sent_rows, cols) is whole at the event.
  Event ship(ConstMatrixView d_halo, MatrixView received);
  /// d_rows (owned, cols) += received (sent_rows, cols), peers by rank, so that the sum is the same in every run.
  void add(ConstMatrixView received, MatrixView d_rows);

 private:
  Context& ctx_;
  Communicator& comm_;
  const LocalGraph& graph_;
  Index sent_rows_ = 0;
  std::vector<RowsTo> sends_;  // of the exchange being started
  std::vector<RowsFrom> receives_;
};

}  // namespace atl
