// Input features kept as CSR: the neighbour sum's loop with values, and with dropout drawn for each stored value.
#include "tensor/cpu/aggregate.h"
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernels.h"

namespace atl {

void sparse_gemm(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                 const Epilogue& epilogue) {
  ATOLL_CHECK(w.rows == x.csr.cols && out.rows == x.csr.rows && w.cols == out.cols,
              "({} x {}) ({} x {}) -> {} x {}", x.csr.rows, x.csr.cols, w.rows, w.cols, out.rows, out.cols);
  if (out.empty()) return;
  simd::Spmm s;
  s.weights = x.csr.weights;
  s.mask = plain(dropout, x.csr.rows);
  if (dropout) s.arc_mask = simd::ArcMask::kByRow;
  s.x = plain(w);
  s.out = plain_out(out);
  s.finish = plain(epilogue, out.rows, out.cols);
  aggregate(ctx, x.csr, s, out.cols);
}

void sparse_gemm_at(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView b,
                    MatrixView out, bool accumulate, Index first) {
  CsrView t = x.transpose;
  ATOLL_CHECK(b.rows == t.cols && first >= 0 && first + out.rows <= t.rows && b.cols == out.cols,
              "({} x {}) ({} x {}) -> {} x {} from {} on", t.rows, t.cols, b.rows, b.cols, out.rows, out.cols,
              first);
  t.offsets += first;
  t.rows = out.rows;
  if (out.empty()) return;
  simd::Spmm s;
  s.weights = t.weights;
  s.mask = plain(dropout, t.cols);
  if (dropout) s.arc_mask = simd::ArcMask::kByColumn;
  s.first_row = first;
  s.x = plain(b);
  s.out = plain_out(out);
  s.accumulate = accumulate;
  aggregate(ctx, t, s, out.cols);
}

}  // namespace atl
