// How rows and their gradients are written while they travel between ranks (strategy.wire): as they are, or
// each value as bfloat16. Computation uses whole values: rows are rounded in the memory that they leave from,
// or on their way to it, and widened in place after they arrive, unless they are stored in halves there.
#pragma once

#include "comm/communicator.h"
#include "job/job.h"
#include "tensor/bfloat16.h"

namespace atl {

/// A view of packed rows, one after the other.
struct PackedRows {
  std::byte* data = nullptr;
  Index rows = 0, row_bytes = 0;

  PackedRows slice(Index begin, Index count) const { return {data + begin * row_bytes, count, row_bytes}; }
  Message message(Rank peer) const { return {peer, data, rows * row_bytes}; }
};

/// The context must outlive it.
class Wire {
 public:
  Wire(Context& ctx, Precision precision) : ctx_(&ctx), narrow_(precision == Precision::kBFloat16) {}

  /// The wire for a purpose: this one in training. Evaluation, and what is gathered once, travels unrounded.
  Wire of(Traffic purpose) const;
  /// Where the packed rows of x lie: at the beginning of its memory, which is contiguous.
  PackedRows packed(MatrixView x) const;
  /// Packs x in place, which overwrites its values.
  PackedRows pack(MatrixView x) const;
  /// Packs x and leaves it whole. Rows that can't be sent from where they lie go to the scratch buffer `to`,
  /// and stay until that is asked for again.
  PackedRows pack_copy(ConstMatrixView x, const ScratchKey& to) const;
  /// The same, in the caller's memory (rows, copied_columns()).
  PackedRows pack_copy(ConstMatrixView x, MatrixView memory) const;
  /// Elements that a copy of a row takes; 0: rows are sent from where they lie.
  Index copied_columns(Index cols) const;
  /// out = the packed rows of x that `index` (out.rows) names.
  void gather(ConstMatrixView x, const VertexId* index, PackedRows out) const;
  /// Widens x, whose memory begins with its packed rows.
  void unpack(MatrixView x) const;

 private:
  Context* ctx_;
  bool narrow_;
};

}  // namespace atl
