// Sums over neighbours, and products with features kept as CSR, which are the same sums with a value per arc.
#include "tensor/cuda/kept_sums.h"
#include "tensor/cuda/slices.h"
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

void sum_by_kernels(Context& ctx, const SumCall& call) {
  aggregate(ctx, call.arcs.csr, sum_of_rows(call.arcs, call.x, call.out, call.accumulate, call.epilogue),
            call.out.cols);
}

void spmm(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  const SumCall call{a, x, out, accumulate, epilogue};
  KeptSums* const kept = stream_of(ctx).kept_sums();
  if (kept == nullptr || !kept->sum_by_library(ctx, call)) sum_by_kernels(ctx, call);
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
