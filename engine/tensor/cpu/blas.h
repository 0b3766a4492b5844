// The only file that calls OpenBLAS: single-threaded products in this build's precision, which measure the
// machine's peak rate.
#pragma once

#include "tensor/matrix.h"

namespace atl {

/// out = a · b + beta · out, with a and b transposed as asked. Safe to call from several threads at once.
void blas_product(bool transpose_a, bool transpose_b, ConstMatrixView a, ConstMatrixView b, Real beta,
                  MatrixView out);

}  // namespace atl
