// Input features kept as CSR: the neighbour sum's loop with values, and with dropout drawn for each stored
// value.
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
                    MatrixView out, bool accumulate) {
  const CsrView& t = x.transpose;
  ATOLL_CHECK(b.rows == t.cols && out.rows == t.rows && b.cols == out.cols, "({} x {}) ({} x {}) -> {} x {}",
              t.rows, t.cols, b.rows, b.cols, out.rows, out.cols);
  if (out.empty()) return;
  simd::Spmm s;
  s.weights = t.weights;
  s.mask = plain(dropout, t.cols);
  if (dropout) s.arc_mask = simd::ArcMask::kByColumn;
  s.x = plain(b);
  s.out = plain_out(out);
  s.accumulate = accumulate;
  aggregate(ctx, t, s, out.cols);
}

void densify(Context& ctx, const SparseRows& x, const Dropout& dropout, MatrixView out) {
  const CsrView& csr = x.csr;
  ATOLL_CHECK(out.rows == csr.rows && out.cols == csr.cols, "{} x {} of {} x {}", out.rows, out.cols,
              csr.rows, csr.cols);
  const simd::Mask mask = plain(dropout, csr.rows);
  for_rows(ctx, out.rows, out.cols, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      Real* values = out.row(row);
      std::fill(values, values + out.cols, Real(0));
      const std::uint64_t key =
          dropout ? dropout.draws.row_key(std::uint64_t(dropout.ids[std::size_t(row)])) : 0;
      for (Index e = csr.offsets[row]; e < csr.offsets[row + 1]; ++e) {
        const auto column = std::uint32_t(csr.columns[e]);
        if (mask.threshold != 0 && Draws::bits(key, column) < mask.threshold) continue;
        values[column] = Real(csr.weights[e]) * mask.scale;
      }
    }
  });
}

}  // namespace atl
