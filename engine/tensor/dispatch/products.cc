// Sums over neighbours and dense, sparse and bit products: checks shapes, and calls the device's kernel.
#include "tensor/dispatch/dispatch.h"

namespace atl {
namespace {

/// Checks (a_rows × a_cols) (b) -> out, and the epilogue of its rows.
void check_product(Index a_rows, Index a_cols, ConstMatrixView b, MatrixView out) {
  ATOLL_CHECK(b.rows == a_cols && out.rows == a_rows && b.cols == out.cols, "({} x {}) ({} x {}) -> {} x {}",
              a_rows, a_cols, b.rows, b.cols, out.rows, out.cols);
}

/// Checks some rows, from `first` on, of (a_rows × a_cols)ᵀ (b).
void check_product_at(Index a_rows, Index a_cols, ConstMatrixView b, MatrixView out, Index first) {
  ATOLL_CHECK(a_rows == b.rows && first >= 0 && first + out.rows <= a_cols && b.cols == out.cols,
              "({} x {})T ({} x {}) -> {} x {} from {}", a_rows, a_cols, b.rows, b.cols, out.rows, out.cols,
              first);
}

double flops(Index rows, Index inner, Index cols) {
  return 2 * double(rows) * double(inner) * double(cols);
}

}  // namespace

void spmm(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  check_product(a.csr.rows, a.csr.cols, x, out);
  check(epilogue, out.rows, out.cols);
  if (out.empty()) return;
  add_work(ctx, [&] {
    return gathers(a.csr, x.row_bytes(), a.col_scale != nullptr) + finishes(epilogue, out.rows, out.cols) +
           streams(out, epilogue);
  });
  ATOLL_CALL_UNCOUNTED(spmm, ctx, a, x, out, accumulate, epilogue);
}

void gemm(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  check_product(a.rows, a.cols, w, out);
  check(epilogue, out.rows, out.cols);
  if (out.empty()) return;
  add_work(ctx, [&] {
    return products(flops(a.rows, a.cols, w.cols), a) + finishes(epilogue, out.rows, out.cols);
  });
  ATOLL_CALL(gemm, ctx, a, w, out, accumulate, epilogue);
}

void gemm_bt(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
             const Dropout& after) {
  ATOLL_CHECK(a.rows == out.rows && a.cols == w.cols && w.rows == out.cols, "({} x {}) ({} x {})T -> {} x {}",
              a.rows, a.cols, w.rows, w.cols, out.rows, out.cols);
  check(after, out.rows);
  if (out.empty()) return;
  add_work(ctx, [&] { return products(flops(a.rows, a.cols, w.rows), a); });
  ATOLL_CALL(gemm_bt, ctx, a, w, out, accumulate, after);
}

void gemm_at(Context& ctx, ConstMatrixView a, const Dropout& dropout, ConstMatrixView b, MatrixView out,
             bool accumulate, Index first) {
  check_product_at(a.rows, a.cols, b, out, first);
  check(dropout, a.rows);
  if (out.empty()) return;
  add_work(ctx,
           [&] { return products(flops(a.rows, out.rows, b.cols), a) + draws(dropout, a.rows, out.rows); });
  ATOLL_CALL(gemm_at, ctx, a, dropout, b, out, accumulate, first);
}

void sparse_gemm(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                 const Epilogue& epilogue) {
  check_product(x.csr.rows, x.csr.cols, w, out);
  check(dropout, x.csr.rows);
  check_all_rows(dropout, x.csr.rows);
  check(epilogue, out.rows, out.cols);
  if (out.empty()) return;
  add_work(ctx, [&] {
    return gathers(x.csr, w.row_bytes()) + finishes(epilogue, out.rows, out.cols) + streams(out, epilogue);
  });
  ATOLL_CALL_UNCOUNTED(sparse_gemm, ctx, x, dropout, w, out, epilogue);
}

void sparse_gemm_at(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView b,
                    MatrixView out, bool accumulate, Index first) {
  check_product_at(x.transpose.cols, x.transpose.rows, b, out, first);
  check(dropout, x.transpose.cols);
  check_all_rows(dropout, x.transpose.cols);
  if (out.empty()) return;
  add_work(ctx, [&] { return gathers(x.transpose, b.row_bytes()) + streams(out); });
  ATOLL_CALL_UNCOUNTED(sparse_gemm_at, ctx, x, dropout, b, out, accumulate, first);
}

void bit_gemm(Context& ctx, const BitRows& x, ConstMatrixView w, MatrixView out, bool accumulate,
              const Epilogue& epilogue) {
  check_product(x.bits.rows, x.bits.cols, w, out);
  check(epilogue, out.rows, out.cols);
  if (out.empty()) return;
  add_work(ctx, [&] {
    return products(kBitTime * flops(x.bits.rows, x.bits.cols, w.cols)) +
           finishes(epilogue, out.rows, out.cols);
  });
  ATOLL_CALL(bit_gemm, ctx, x, w, out, accumulate, epilogue);
}

void bit_gemm_at(Context& ctx, const BitRows& x, ConstMatrixView b, MatrixView out, bool accumulate,
                 Index first) {
  check_product_at(x.transpose.cols, x.transpose.rows, b, out, first);
  if (out.empty()) return;
  add_work(ctx, [&] { return products(kBitTime * flops(x.transpose.cols, out.rows, b.cols)); });
  ATOLL_CALL(bit_gemm_at, ctx, x, b, out, accumulate, first);
}

}  // namespace atl
