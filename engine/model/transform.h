// The verb "transform": rows × weight, for dense rows and packed features alike, with dropout on the rows before it.
#pragma once

#include "model/verbs.h"

namespace atl {

/// rows as they are, or a dropped-out copy in workspace `name` (dense rows only; valid until the name's next use).
ConstMatrixView dropped_rows(Context& ctx, const Rows& rows, const Dropout& dropout, const char* name);

/// out = dropout(rows) · w, then the epilogue.  rows (n, in), w (in, m), out (n, m).
void transform(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView w, MatrixView out,
               const Epilogue& epilogue = {}, bool accumulate = false);

/// d_w += dropout(rows)ᵀ · d_out ;  d_rows (+)= dropout mask of d_out · wᵀ, unless d_rows is empty.
void transform_backward(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView w,
                        ConstMatrixView d_out, MatrixView d_w, MatrixView d_rows,
                        bool accumulate_rows = false);

}  // namespace atl
