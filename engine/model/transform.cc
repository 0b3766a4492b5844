#include "model/transform.h"

namespace atl {

ConstMatrixView dropped_rows(Context& ctx, const Rows& rows, const Dropout& d, const char* name) {
  ATOLL_CHECK(!rows.packed(), "packed rows are transformed, never copied");
  if (!d) return rows.dense;
  MatrixView copy = ctx.workspace->matrix(name, rows.rows(), rows.cols());
  dropout(ctx, d, rows.dense, copy);
  return copy;
}

void transform(Context& ctx, const Rows& rows, const Dropout& d, ConstMatrixView w, MatrixView out,
               const Epilogue& epilogue, bool accumulate) {
  if (rows.bits != nullptr) {
    ATOLL_CHECK(!d, "bits are read as dense rows where they are dropped out");
    bit_gemm(ctx, *rows.bits, w, out, accumulate, epilogue);
  } else if (rows.sparse != nullptr) {
    ATOLL_CHECK(!accumulate, "sparse transforms don't accumulate");
    sparse_gemm(ctx, *rows.sparse, d, w, out, epilogue);
  } else {
    gemm(ctx, dropped_rows(ctx, rows, d, "transform.rows"), w, out, accumulate, epilogue);
  }
}

void transform_backward(Context& ctx, const Rows& rows, const Dropout& d, ConstMatrixView w,
                        ConstMatrixView d_out, MatrixView d_w, MatrixView d_rows, bool accumulate_rows) {
  // Packed features take no gradient.
  if (rows.bits != nullptr) return bit_gemm_at(ctx, *rows.bits, d_out, d_w, true);
  if (rows.sparse != nullptr) return sparse_gemm_at(ctx, *rows.sparse, d, d_out, d_w, true);
  gemm_at(ctx, dropped_rows(ctx, rows, d, "transform.rows"), d_out, d_w, true);
  if (d_rows.cols == 0) return;
  if (accumulate_rows && d) {  // the mask belongs to this product alone, not to what d_rows holds
    MatrixView masked = ctx.workspace->matrix("transform.d_rows", d_rows.rows, d_rows.cols);
    gemm_bt(ctx, d_out, w, masked, false, d);
    axpby(ctx, 1, masked, 1, d_rows);
  } else {
    gemm_bt(ctx, d_out, w, d_rows, accumulate_rows, d);
  }
}

}  // namespace atl
