// Softmaxes over neighbours of which each rank of a row of CAGNET's grid has a part, that of its column's sources: put together at
// the rank that owns the vertices. A vertex's scores go to the row before; on the way back so does what its gradients are made
// of, and gradients of scores come home.
//
// All of it crosses whole, whatever strategy.wire says: a rounded maximum or score would change every weight by its own
// error, exp of it.
#pragma once

#include "exchange/cagnet_row.h"

namespace atl {

/// One per exchange; references outlive it. Calls are collective over the row. The matrices of a row, (its vertices, …), are
/// valid until the next call.
class CagnetSoftmaxes {
 public:
  CagnetSoftmaxes(Context& ctx, CagnetRow& row) : ctx_(ctx), row_(row), wire_(ctx, Precision::kFloat32) {}

  struct OfRow {
    ConstMatrixView scores;
    Softmaxes softmaxes;  // begun
    MatrixView packed;    // the softmaxes, as they cross
  };
  OfRow begin(Traffic purpose, const SoftmaxGather& softmax);
  /// softmax.own, begun, becomes what all ranks have of own vertices, put together in the order of columns.
  void merge(Traffic purpose, const OfRow& row, const SoftmaxGather& softmax);

  /// Of all ranks of the row, with zeros for gradients of scores.
  SoftmaxGradient spread(const SoftmaxGradient& softmax);
  /// softmax.d_scores grows by all ranks' gradients of own vertices' scores, in the order of columns.
  void add_scores(const SoftmaxGradient& row, const SoftmaxGradient& softmax);

 private:
  void bring(Traffic purpose, MatrixView of_row);

  Context& ctx_;
  CagnetRow& row_;
  Wire wire_;
};

}  // namespace atl
