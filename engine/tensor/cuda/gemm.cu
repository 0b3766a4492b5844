// Dense products by cuBLAS. Its matrices are column by column: to it, rows of ours are columns, and a · w is wᵀ · aᵀ. What follows a
// product is a pass of its own over the rows.
#include "tensor/cuda/finish.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// cuBLAS's product of this precision.
template <class T>
cublasStatus_t gemm_of(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n,
                       int k, const T* one, const T* a, int lda, const T* b, int ldb, const T* beta, T* c,
                       int ldc) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return cublasDgemm(handle, a_op, b_op, m, n, k, one, a, lda, b, ldb, beta, c, ldc);
  } else {
    return cublasSgemm(handle, a_op, b_op, m, n, k, one, a, lda, b, ldb, beta, c, ldc);
  }
}

/// cuBLAS wants a distance of at least a row's width, also where there is one row only.
int distance(ConstMatrixView v) {
  const Index stride = v.stride < v.cols ? v.cols : v.stride;
  return int(stride < 1 ? 1 : stride);
}

/// out (+)= left · right, each transposed where it says so.
void multiply(Context& ctx, ConstMatrixView left, bool left_transposed, ConstMatrixView right,
              bool right_transposed, MatrixView out, bool accumulate) {
  const Index inner = left_transposed ? left.rows : left.cols;
  if (inner == 0) {
    if (!accumulate) cuda::fill(ctx, 0, out);
    return;
  }
  const Real one = 1, beta = accumulate ? Real(1) : Real(0);
  ATOLL_MUST(gemm_of(stream_of(ctx).cublas(), right_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                     left_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, int(out.cols), int(out.rows), int(inner),
                     &one, right.data, distance(right), left.data, distance(left), &beta, out.data,
                     distance(out)));
}

}  // namespace

void gemm(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  multiply(ctx, a, false, w, false, out, accumulate);
  cuda::apply(ctx, epilogue, out, out);
}

void gemm_bt(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
             const Dropout& after) {
  multiply(ctx, a, false, w, true, out, accumulate);
  cuda::apply(ctx, Epilogue{.dropout = after}, out, out);
}

void gemm_at(Context& ctx, ConstMatrixView a, const Dropout& dropout, ConstMatrixView b, MatrixView out,
             bool accumulate, Index first) {
  const ConstMatrixView columns = a.slice_cols(first, out.rows);
  if (!dropout) return multiply(ctx, columns, true, b, false, out, accumulate);
  constexpr Index kElements = Index(1) << 24;  // of a that are dropped at a time
  const Index most = kElements / out.rows + 1, step = most < a.rows ? most : a.rows;
  if (a.rows == 0) return multiply(ctx, columns, true, b, false, out, accumulate);
  const MatrixView dropped = ctx.workspace->matrix("gemm_at.dropped", step, out.rows);
  for (Index row = 0; row < a.rows; row += step) {
    const Index count = step < a.rows - row ? step : a.rows - row;
    Dropout part = dropout;
    part.ids = dropout.ids.subspan(std::size_t(row), std::size_t(count));
    part.first_column += first;
    const MatrixView rows = dropped.slice_rows(0, count);
    cuda::dropout(ctx, part, columns.slice_rows(row, count), rows);
    multiply(ctx, rows, true, b.slice_rows(row, count), false, out, accumulate || row > 0);
  }
}

}  // namespace atl::cuda
