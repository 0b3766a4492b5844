// Dense products by cuBLAS. Its matrices are column-major, so our rows are its columns, and a · w is wᵀ · aᵀ.
// cuBLASLt can do a bias, with or without ReLU (finished_products.h); any other epilogue is a separate pass
// over the rows.
#include "tensor/cuda/finish.h"
#include "tensor/cuda/finished_products.h"
#include "tensor/cuda/table.h"
#include "tensor/dispatch/reals.h"

namespace atl::cuda {
namespace {

/// The product function of cuBLAS for this precision.
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

constexpr bool kSingle = sizeof(Real) == sizeof(float);  // in double precision halves are multiplied as Reals

/// The arguments for cuBLAS; `first` is our right operand.
struct Product {
  const void *first, *second;
  void* to;
  cublasOperation_t first_op, second_op;
  int m, n, k, first_distance, second_distance, to_distance;
  std::int32_t accumulate;
  Storage of, into;
  std::uint16_t unused = 0;  // instead of padding
};

void multiply_now(const Target& on, const Product& p) {
  if (p.of == Storage::kReals) {
    const Real one = 1, beta = p.accumulate != 0 ? Real(1) : Real(0);
    ATOLL_MUST(gemm_of(on.cublas, p.first_op, p.second_op, p.m, p.n, p.k, &one,
                       static_cast<const Real*>(p.first), p.first_distance,
                       static_cast<const Real*>(p.second), p.second_distance, &beta, static_cast<Real*>(p.to),
                       p.to_distance));
    return;
  }
  const float one = 1, beta = p.accumulate != 0 ? 1 : 0;
  ATOLL_MUST(cublasGemmEx(on.cublas, p.first_op, p.second_op, p.m, p.n, p.k, &one, p.first, CUDA_R_16BF,
                          p.first_distance, p.second, CUDA_R_16BF, p.second_distance, &beta, p.to,
                          p.into == Storage::kHalves ? CUDA_R_16BF : CUDA_R_32F, p.to_distance,
                          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/// out (+)= left · right, each transposed if asked. Either both operands are in halves, with sums in float32,
/// or everything is in Reals.
void multiply(Context& ctx, ConstMatrixView left, bool left_transposed, ConstMatrixView right,
              bool right_transposed, MatrixView out, bool accumulate) {
  const Index inner = left_transposed ? left.rows : left.cols;
  if (inner == 0) {
    if (!accumulate) cuda::fill(ctx, 0, out);
    return;
  }
  call_library(ctx, &multiply_now,
               Product{.first = right.address(),
                       .second = left.address(),
                       .to = const_cast<void*>(out.address()),
                       .first_op = right_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                       .second_op = left_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                       .m = int(out.cols),
                       .n = int(out.rows),
                       .k = int(inner),
                       .first_distance = int(row_distance(right)),
                       .second_distance = int(row_distance(left)),
                       .to_distance = int(row_distance(out)),
                       .accumulate = accumulate ? 1 : 0,
                       .of = left.storage(),
                       .into = out.storage()});
}

constexpr Index kElements = Index(1) << 24;  // copied at a time

/// Number of rows, such that a piece has about kElements.
Index rows_at_once(Index rows, Index cols) {
  const Index most = kElements / cols + 1;
  return most < rows ? most : rows;
}

constexpr ScratchKey kWeight;

/// `of` in halves: itself if it is stored so, otherwise a copy in `scratch`.
ConstMatrixView rounded(Context& ctx, const ScratchKey& scratch, ConstMatrixView of) {
  if (of.halves != nullptr || of.empty()) return of;
  const MatrixView copy = ctx.workspace->matrix(scratch, of.rows, of.cols, Storage::kHalves);
  cuda::axpby(ctx, 1, of, 0, copy);
  return copy;
}

/// out (+)= a · w, or a · wᵀ.
void product(Context& ctx, ConstMatrixView a, ConstMatrixView w, bool transposed, MatrixView out,
             bool accumulate) {
  if (a.halves != nullptr)
    return multiply(ctx, a, false, rounded(ctx, kWeight, w), transposed, out, accumulate);
  if (out.halves == nullptr) return multiply(ctx, a, false, w, transposed, out, accumulate);
  const Index step = rows_at_once(out.rows, out.cols);
  static constexpr ScratchKey kReals;
  const MatrixView reals = ctx.workspace->matrix(kReals, step, out.cols);
  for (Index row = 0; row < out.rows; row += step) {
    const Index count = step < out.rows - row ? step : out.rows - row;
    const MatrixView part = reals.slice_rows(0, count);
    multiply(ctx, a.slice_rows(row, count), false, w, transposed, part, false);
    cuda::axpby(ctx, 1, part, accumulate ? Real(1) : Real(0), out.slice_rows(row, count));
  }
}

bool is_bias_or_its_relu(const Epilogue& e) {
  return e.bias != nullptr && e.norm == Epilogue::Norm::kNone && e.residual.empty() && !e.dropout &&
         (e.activation == Activation::kNone || e.activation == Activation::kRelu);
}

/// `bias` (m) in the form that cuBLASLt takes with results of this storage: itself, or a copy.
const void* placed_bias(Context& ctx, const Real* bias, Index m, Storage storage) {
  if (storage == Storage::kReals && FinishedProducts::has_place_for_bias(bias)) return bias;
  static constexpr ScratchKey kBias;
  const MatrixView copy = ctx.workspace->matrix(kBias, 1, m, storage);
  cuda::axpby(ctx, 1, ConstMatrixView(bias, 1, m), 0, copy);
  return copy.address();
}

/// The product with its finish, if cuBLASLt does both; false: nothing was done. `w` is stored as `a` is.
bool multiply_and_finish(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
                         const Epilogue& epilogue) {
  const bool are_stored_so = a.storage() == w.storage() && (a.halves != nullptr || out.halves == nullptr);
  if (!kSingle || !are_stored_so || !is_bias_or_its_relu(epilogue) || out.empty() || a.cols == 0)
    return false;
  auto product = stream_of(ctx).finished_products().plan(a, w, out, accumulate,
                                                         epilogue.activation == Activation::kRelu);
  if (!product) return false;
  FinishedProducts::set_bias(*product, placed_bias(ctx, epilogue.bias, out.cols, out.storage()));
  call_library(ctx, &finish_product_now, *product);
  return true;
}

}  // namespace

void gemm(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  if (!kSingle && any_in_halves(a, w, out, epilogue))
    return call_in_reals(&cuda::gemm, ctx, a, w, out, accumulate, epilogue);
  if (a.halves != nullptr) w = rounded(ctx, kWeight, w);
  if (multiply_and_finish(ctx, a, w, out, accumulate, epilogue)) return;
  product(ctx, a, w, false, out, accumulate);
  cuda::apply(ctx, epilogue, out, out);
}

void gemm_bt(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
             const Dropout& after) {
  if (!kSingle && any_in_halves(a, w, out))
    return call_in_reals(&cuda::gemm_bt, ctx, a, w, out, accumulate, after);
  product(ctx, a, w, true, out, accumulate);
  cuda::apply(ctx, Epilogue{.dropout = after}, out, out);
}

void gemm_at(Context& ctx, ConstMatrixView a, const Dropout& dropout, ConstMatrixView b, MatrixView out,
             bool accumulate, Index first) {
  if (!kSingle && any_in_halves(a, b, out))
    return call_in_reals(&cuda::gemm_at, ctx, a, dropout, b, out, accumulate, first);
  const ConstMatrixView columns = a.slice_cols(first, out.rows);
  const bool halves = a.halves != nullptr || b.halves != nullptr, mixed = a.storage() != b.storage();
  if (a.rows == 0 || (!dropout && !mixed)) return multiply(ctx, columns, true, b, false, out, accumulate);
  const Index step = rows_at_once(a.rows, out.rows > b.cols ? out.rows : b.cols);
  const bool copies = dropout || a.storage() != Storage::kHalves;
  static constexpr ScratchKey kDropped, kRight;
  const MatrixView dropped = ctx.workspace->matrix(kDropped, copies ? step : 0, out.rows,
                                                   halves ? Storage::kHalves : Storage::kReals);
  for (Index row = 0; row < a.rows; row += step) {
    const Index count = step < a.rows - row ? step : a.rows - row;
    ConstMatrixView left = columns.slice_rows(row, count), right = b.slice_rows(row, count);
    if (copies) {
      Dropout part = dropout.of_rows(row, count);
      part.first_column += first;
      const MatrixView rows = dropped.slice_rows(0, count);
      cuda::dropout(ctx, part, left, rows);
      left = rows;
    }
    if (halves) right = rounded(ctx, kRight, right);
    multiply(ctx, left, true, right, false, out, accumulate || row > 0);
  }
}

}  // namespace atl::cuda
