// The verb "transform": rows × weight, for dense rows and packed features alike, with dropout on the rows
// before it.
#pragma once

#include "model/verbs.h"

namespace atl {

/// rows as they are, or a dropped-out copy in workspace `name` (dense rows only; valid until the name's next
/// use).
ConstMatrixView dropped_rows(Context& ctx, const Rows& rows, const Dropout& dropout, const char* name);

/// The rows of a layer's input that a pass owns, where several products read them: dropped out once, they
/// serve all.
class OwnRows {
 public:
  /// The context outlives it, and one lives at a time. Without `own` every product sees to its rows itself.
  explicit OwnRows(Context& ctx, const Rows& own = {}) : ctx_(ctx), own_(own) {}

  struct Due {
    Rows rows;
    Dropout dropout;  // still to be applied
  };
  /// Rows that are due a dropout: themselves, or where they are the own ones those that have had it.
  Due due(const Rows& rows, const Dropout& dropout);

 private:
  Context& ctx_;
  Rows own_;
  ConstMatrixView dropped_;  // once they were asked for
};

/// Products of a pass's own rows that cross between ranks in their stead: those of boundary rows
/// (PassState::boundary) are made before a gather begins, the others while they travel; on the way back the
/// others' gradients are used while boundary rows' travel. Of dense rows.
class ExchangedProducts {
 public:
  /// rows (own, in), w (in, m). The context, and what the views are of, outlive it.
  ExchangedProducts(Verbs& verbs, const Rows& rows, const Dropout& dropout, ConstMatrixView w);

  /// z (own, m) = dropout(rows) · w.
  void multiply_boundary(MatrixView z) const { multiply(0, boundary_, z); }
  void multiply_rest(MatrixView z) const { multiply(boundary_, rows_.rows, z); }
  /// d_w (in, m) grows by what d_z (own, m) says of these rows, and d_rows (own, in) of them is written.
  void lead_back_rest(ConstMatrixView d_z, MatrixView d_w, MatrixView d_rows) const {
    lead_back(boundary_, rows_.rows, d_z, d_w, d_rows);
  }
  void lead_back_boundary(ConstMatrixView d_z, MatrixView d_w, MatrixView d_rows) const {
    lead_back(0, boundary_, d_z, d_w, d_rows);
  }

 private:
  Dropout dropout_of(Index begin, Index end) const;
  void multiply(Index begin, Index end, MatrixView z) const;
  void lead_back(Index begin, Index end, ConstMatrixView d_z, MatrixView d_w, MatrixView d_rows) const;

  Context& ctx_;
  ConstMatrixView rows_, w_;
  Dropout dropout_;
  Index boundary_;
};

/// out = dropout(rows) · w, then the epilogue.  rows (n, in), w (in, m), out (n, m).
void transform(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView w, MatrixView out,
               const Epilogue& epilogue = {}, bool accumulate = false);

/// d_w += dropout(rows)ᵀ · d_out; d_w (any columns of rows from `first` on, m).
void weight_backward(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView d_out,
                     MatrixView d_w, Index first = 0);
/// d_rows (+)= dropout mask of d_out · wᵀ. The mask is this product's alone, not that of what d_rows holds.
void rows_backward(Context& ctx, const Dropout& dropout, ConstMatrixView w, ConstMatrixView d_out,
                   MatrixView d_rows, bool accumulate = false);
/// Both; where d_rows is empty, the first alone.
void transform_backward(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView w,
                        ConstMatrixView d_out, MatrixView d_w, MatrixView d_rows,
                        bool accumulate_rows = false);

}  // namespace atl
