#include "tensor/cpu/blas.h"

#include <cblas.h>

namespace atl {
namespace {

/// BLAS refuses a leading dimension of 0, which an empty matrix has.
blasint leading(Index stride) {
  return blasint(stride > 0 ? stride : 1);
}

}  // namespace

void blas_product(bool transpose_a, bool transpose_b, ConstMatrixView a, ConstMatrixView b, Real beta,
                  MatrixView out) {
  // Set once per process, before the first product: OpenBLAS's own threads would compete with the pool's.
  [[maybe_unused]] static const bool one_thread = (openblas_set_num_threads(1), true);
#ifdef ATOLL_REAL_DOUBLE
  constexpr auto product = cblas_dgemm;
#else
  constexpr auto product = cblas_sgemm;
#endif
  const Index inner = transpose_a ? a.rows : a.cols;
  product(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
          blasint(out.rows), blasint(out.cols), blasint(inner), 1, a.data, leading(a.stride), b.data,
          leading(b.stride), beta, out.data, leading(out.stride));
}

}  // namespace atl
