// Input features kept as CSR: the neighbour sum's loop with values, and with dropout drawn for each stored value.
#include "tensor/cpu/aggregate.h"
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {

void sparse_gemm(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                 const Epilogue& epilogue) {
  simd::Spmm s;
  s.weights = x.csr.weights;
  s.mask = plain(dropout);
  if (dropout) s.arc_mask = simd::ArcMask::kByRow;
  s.x = plain(w);
  s.out = plain_out(out);
  s.finish = plain(epilogue);
  aggregate(ctx, x.csr, s, out.cols);
}

void sparse_gemm_at(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView b,
                    MatrixView out, bool accumulate, Index first) {
  CsrView t = x.transpose;
  t.offsets += first;
  t.rows = out.rows;
  simd::Spmm s;
  s.weights = t.weights;
  s.mask = plain(dropout);
  if (dropout) s.arc_mask = simd::ArcMask::kByColumn;
  s.first_row = first;
  s.x = plain(b);
  s.out = plain_out(out);
  s.accumulate = accumulate;
  aggregate(ctx, t, s, out.cols);
}

}  // namespace atl::cpu
