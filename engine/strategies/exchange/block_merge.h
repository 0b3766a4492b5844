// What the ranks of a row of CAGNET's grid have aggregated, each over its column's sources, put together at the rank that owns the
// vertices; and what the owner knows of its vertices, spread over the row on the way back.
#pragma once

#include "strategies/exchange/block_row.h"
#include "model/row_group.h"

namespace atl {

/// One per exchange; references outlive it.
class CagnetMerge final : public RowGroup {
 public:
  CagnetMerge(Context& ctx, CagnetRow& row, Precision wire)
      : ctx_(ctx), row_(row), sums_wire_(ctx, wire), whole_(ctx, Precision::kFloat32), wire_(sums_wire_) {}

  /// What the gather that follows sends and brings it for.
  void begin(Traffic purpose) { purpose_ = purpose; }

  MatrixView summands(Index cols) override;
  void begin_whole(MatrixView summands, Rounding rounding) override;
  void end_whole(FunctionRef<void(MatrixView)> add) override;
  void begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) override;
  MatrixView end_spread() override;

 private:
  Wire wire_of(Rounding rounding) const {
    return rounding == Rounding::kNever ? whole_ : sums_wire_.of(purpose_);
  }

  Context& ctx_;
  CagnetRow& row_;
  Wire sums_wire_, whole_;
  Wire wire_;  // of the transfer under way
  Traffic purpose_ = Traffic::kHalo;
  Event under_way_;
  MatrixView spread_;
};

}  // namespace atl
