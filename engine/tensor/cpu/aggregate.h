// The product of sparse rows and a dense matrix, shared by neighbour sums and sparse features.
#pragma once

#include "tensor/context.h"
#include "tensor/cpu/simd/loops.h"
#include "tensor/rows.h"

namespace atl::cpu {

/// Computes out (csr.rows, cols) from x (csr.cols, cols) as described at simd::Spmm; offsets and columns are
/// csr's.
void aggregate(Context& ctx, const CsrView& csr, simd::Spmm s, Index cols);

}  // namespace atl::cpu
