// The gradient that a skip connection carries past a layer, kept until the layer's own is written.
#pragma once

#include "tensor/kernels.h"

namespace atl {

class SkipGradient {
 public:
  /// Zero, of d_out's shape, in workspace memory; empty where there is no skip connection.
  SkipGradient(Context& ctx, bool present, ConstMatrixView d_out) : ctx_(ctx) {
    if (!present) return;
    d_skip_ = ctx.workspace->matrix("skip_gradient", d_out.rows, d_out.cols);
    fill(ctx, 0, d_skip_);
  }
  MatrixView view() const { return d_skip_; }
  /// d_input (dst, in) += it, unless either is empty.
  void add_to(MatrixView d_input) const {
    if (d_skip_.cols > 0 && d_input.cols > 0) axpby(ctx_, 1, d_skip_, 1, d_input);
  }

 private:
  Context& ctx_;
  MatrixView d_skip_;
};

}  // namespace atl
