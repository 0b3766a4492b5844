// Products of sparse rows and a dense matrix: sums over neighbours, and input features kept as CSR. Rows and
// columns of the product are assigned to chunks.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

// Columns of x that are gathered at a time: eight cache lines per row. A slice of this width stays in the
// last-level cache between its uses when a wider matrix would not (narrower slices were slower).
constexpr Index kSlice = 128;

/// Computes out (csr.rows, cols) from x (csr.cols, cols) as described at simd::Spmm; offsets and columns are
/// csr's.
void aggregate(Context& ctx, const CsrView& csr, simd::Spmm s, Index cols) {
  s.offsets = csr.offsets;
  s.columns = csr.columns;
  const simd::Finish whole_rows = s.finish;
  if (s.finish.layer_norm && cols > kSlice) s.finish = {};  // needs the row's other columns
  const ArcChunks chunks{csr};
  const Index slices = (cols + kSlice - 1) / kSlice, count = chunks.count();
  run_chunks(ctx, slices * count, [&](Index chunk) {
    const Index slice = chunk / count, c = slice * kSlice;
    simd::loops().spmm(s, chunks.begin(chunk % count), chunks.end(chunk % count), c,
                       std::min(cols, c + kSlice));
  });
  if (whole_rows.nothing == s.finish.nothing) return;
  for_rows(ctx, csr.rows, cols,
           [&](Index begin, Index end) { simd::loops().finish(whole_rows, s.out, begin, end, 0, cols); });
}

}  // namespace

void spmm(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  aggregate(ctx, a.csr, sum_of_rows(a, x, out, accumulate, epilogue), out.cols);
}

// Features use the neighbour sum's loop, with values, and with dropout drawn for each stored value.

void sparse_gemm(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                 const Epilogue& epilogue) {
  aggregate(ctx, x.csr, sum_of_values(x, dropout, w, out, epilogue), out.cols);
}

void sparse_gemm_at(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView b,
                    MatrixView out, bool accumulate, Index first) {
  aggregate(ctx, transposed_rows(x, first, out.rows), sum_of_transpose(x, dropout, b, out, accumulate, first),
            out.cols);
}

}  // namespace atl::cpu
