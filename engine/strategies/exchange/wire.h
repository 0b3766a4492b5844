// How rows, and gradients of rows, are written while they cross between ranks (strategy.wire): as they are,
// or each value as bfloat16. What is computed with is whole again: rows are rounded in the memory that they
// leave from, or on their way to it, and widened in place where they have arrived, unless they are stored in
// halves there.
#pragma once

#include "comm/communicator.h"
#include "job/job.h"
#include "tensor/bfloat16.h"

namespace atl {

/// Rows as they cross, one after the other. A view.
struct PackedRows {
  std::byte* data = nullptr;
  Index rows = 0, row_bytes = 0;

  PackedRows slice(Index begin, Index count) const { return {data + begin * row_bytes, count, row_bytes}; }
  Message message(Rank peer) const { return {peer, data, rows * row_bytes}; }
};

/// The context outlives it.
class Wire {
 public:
  Wire(Context& ctx, Precision precision) : ctx_(&ctx), narrow_(precision == Precision::kBFloat16) {}

  /// This one for what crosses in training. Evaluation, and what is gathered once, crosses as it is.
  Wire of(Traffic purpose) const;
  /// Where rows lie packed in the memory of x, contiguous: at its beginning.
  PackedRows packed(MatrixView x) const;
  /// Packs x in its own memory: it isn't whole any more.
  PackedRows pack(MatrixView x) const;
  /// Packs x, which stays whole; rows that can't be sent from where they lie go to the workspace's matrix
  /// `name`, and stay until that is asked for again.
  PackedRows pack_copy(ConstMatrixView x, const char* name) const;
  /// The same in memory (rows, copied_columns()) of the caller's.
  PackedRows pack_copy(ConstMatrixView x, MatrixView memory) const;
  /// Elements that a copy of a row takes; 0: rows are sent from where they lie.
  Index copied_columns(Index cols) const;
  /// out = the rows of x that `index` (out.rows) names, packed.
  void gather(ConstMatrixView x, const VertexId* index, PackedRows out) const;
  /// Makes x whole, whose memory begins with its packed rows.
  void unpack(MatrixView x) const;

 private:
  Context* ctx_;
  bool narrow_;
};

}  // namespace atl
