// Sums over neighbours, and products with features kept as CSR, which are the same sums with a value per arc.
#include "tensor/cuda/cusparse.h"
#include "tensor/cuda/sum_of_rows.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

void aggregate(Context& ctx, const CsrView& csr, simd::Spmm s, Index cols) {
  s.offsets = csr.offsets;
  s.columns = csr.columns;
  const simd::Finish whole_rows = s.finish;
  const bool apart = s.finish.layer_norm;  // needs the whole row
  if (apart) s.finish = {};
  if (any_halves(s.x, s.out, s.finish.residual)) {
    sum_up_halves(ctx, csr, s, cols);
  } else if (in_packs(4, cols, s.x, s.out)) {
    sum_up<4, Real, false>(ctx, csr, s, cols);
  } else {
    sum_up<1, Real, false>(ctx, csr, s, cols);
  }
  if (apart) finish_rows(ctx, whole_rows, {s.out.data, s.out.stride, s.out.halves}, s.out, csr.rows, cols);
}

}  // namespace

void spmm(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  CusparseSums* const cusparse = stream_of(ctx).cusparse();
  if (cusparse != nullptr && cusparse->sum(ctx, {a, x, out, accumulate, epilogue})) return;
  aggregate(ctx, a.csr, sum_of_rows(a, x, out, accumulate, epilogue), out.cols);
}

void sparse_gemm(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                 const Epilogue& epilogue) {
  aggregate(ctx, x.csr, sum_of_values(x, dropout, w, out, epilogue), out.cols);
}

void sparse_gemm_at(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView b,
                    MatrixView out, bool accumulate, Index first) {
  aggregate(ctx, transposed_rows(x, first, out.rows), sum_of_transpose(x, dropout, b, out, accumulate, first),
            out.cols);
}

}  // namespace atl::cuda
