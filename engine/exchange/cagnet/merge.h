// What the ranks of a row of CAGNET's grid have aggregated, each over its column's sources, put together at the rank that owns the
// vertices; and what the owner knows of its vertices, spread over the row on the way back.
//
// Sums cross as strategy.wire says. Softmaxes cross whole: a rounded maximum or score would change every weight by its own error,
// exp of it.
#pragma once

#include "exchange/cagnet/row.h"
#include "model/gather.h"

namespace atl {

/// One per exchange; references outlive it.
class CagnetMerge final : public Merge {
 public:
  CagnetMerge(Context& ctx, CagnetRow& row, Precision wire)
      : ctx_(ctx), row_(row), sums_wire_(ctx, wire), whole_(ctx, Precision::kFloat32), wire_(sums_wire_) {}

  /// What the gather that follows is for.
  void begin(Traffic purpose) { purpose_ = purpose; }

  MatrixView sums(Index cols) override;
  void begin_merge(MatrixView sums) override;
  void end_merge(MatrixView own, bool accumulate) override;
  void begin_spread(ConstMatrixView d_own) override;
  ConstMatrixView end_spread() override;

  ConstMatrixView scores(ConstMatrixView own) override;
  Softmaxes softmaxes(const Softmaxes& own) override;
  void merge(const Softmaxes& of_group, const Softmaxes& own) override;
  SoftmaxGradient spread(const SoftmaxGradient& own) override;
  void add_scores(const SoftmaxGradient& of_group, const SoftmaxGradient& own) override;

 private:
  void bring(Traffic purpose, MatrixView of_row);

  Context& ctx_;
  CagnetRow& row_;
  Wire sums_wire_, whole_;
  Wire wire_;  // of the transfer under way
  Traffic purpose_ = Traffic::kHalo;
  Event under_way_;
  MatrixView packed_, spread_;
};

}  // namespace atl
