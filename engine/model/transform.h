// The verb "transform": rows × weight, for dense rows and packed features alike, with dropout on the rows
// first.
#pragma once

#include "model/verbs.h"

namespace atl {

/// rows as they are, or a dropped-out copy in scratch buffer `to` (dense rows only; valid until its next
/// use).
ConstMatrixView dropped_rows(Context& ctx, const Rows& rows, const Dropout& dropout, const ScratchKey& to);

/// The own rows of a layer's input, for several products that read them: they are dropped out once for all.
class OwnRows {
 public:
  /// The context must outlive it, and only one may live at a time. Without `own`, each product drops out its
  /// rows itself.
  explicit OwnRows(Context& ctx, const Rows& own = {}) : ctx_(ctx), own_(own) {}

  struct Due {
    Rows rows;
    Dropout dropout;  // still to be applied
  };
  /// The rows to multiply, and the dropout that they still need: none for own rows, of which it returns a
  /// dropped-out copy.
  Due due(const Rows& rows, const Dropout& dropout);

 private:
  Context& ctx_;
  Rows own_;
  ConstMatrixView dropped_;  // made when they are first asked for
};

/// Products of a pass's own dense rows, which travel between ranks instead of the rows. Products of boundary
/// rows (PassState::boundary) are made before a gather begins, the others while the boundary rows' travel. On
/// the way back, gradients of the others are used first, while gradients of the boundary rows' products
/// travel.
class ExchangedProducts {
 public:
  /// rows (own, in), w (in, m). The context and the viewed memory must outlive it.
  ExchangedProducts(Verbs& verbs, const Rows& rows, const Dropout& dropout, ConstMatrixView w);

  /// z (own, m) = dropout(rows) · w.
  void multiply_boundary(MatrixView z) const { multiply(0, boundary_, z); }
  void multiply_rest(MatrixView z) const { multiply(boundary_, rows_.rows, z); }
  /// Adds what d_z (own, m) of these rows contributes to d_w (in, m), and writes their d_rows (own, in).
  void backward_rest(ConstMatrixView d_z, MatrixView d_w, MatrixView d_rows) const {
    backward(boundary_, rows_.rows, d_z, d_w, d_rows);
  }
  void backward_boundary(ConstMatrixView d_z, MatrixView d_w, MatrixView d_rows) const {
    backward(0, boundary_, d_z, d_w, d_rows);
  }

 private:
  Dropout dropout_of(Index begin, Index end) const;
  void multiply(Index begin, Index end, MatrixView z) const;
  void backward(Index begin, Index end, ConstMatrixView d_z, MatrixView d_w, MatrixView d_rows) const;

  Context& ctx_;
  ConstMatrixView rows_, w_;
  Dropout dropout_;
  Index boundary_;
};

/// out = dropout(rows) · w, then the epilogue.  rows (n, in), w (in, m), out (n, m).
void transform(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView w, MatrixView out,
               const Epilogue& epilogue = {}, bool accumulate = false);

/// d_w += dropout(rows)ᵀ · d_out, where d_w (…, m) belongs to the columns of rows from `first` on.
void weight_backward(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView d_out,
                     MatrixView d_w, Index first = 0);
/// d_rows (+)= mask ∘ (d_out · wᵀ), with the mask of `dropout`. What d_rows held before isn't masked.
void rows_backward(Context& ctx, const Dropout& dropout, ConstMatrixView w, ConstMatrixView d_out,
                   MatrixView d_rows, bool accumulate = false);
/// Calls weight_backward(), then rows_backward() unless d_rows is empty or the rows are packed.
void transform_backward(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView w,
                        ConstMatrixView d_out, MatrixView d_w, MatrixView d_rows,
                        bool accumulate_rows = false);

}  // namespace atl
