// Input features kept as CSR. Uses the neighbour sum's loop, with values, and with dropout drawn for each
// stored value.
#include "tensor/cpu/aggregate.h"
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {

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
