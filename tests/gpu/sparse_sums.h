// Sums over neighbours by cuSPARSE, to be timed beside ours.
#pragma once

#include <functional>
#include <vector>

#include "tensor/kernels.h"

namespace atl {

struct SparseSum {
  bool same_bits;  // in each run
  std::function<void(Context&)> run;
};

/// out = A x, by each of its algorithms. offsets: in host memory.
std::vector<SparseSum> sparse_sums(Context& ctx, const std::vector<Index>& offsets, const CsrView& csr,
                                   ConstMatrixView x, MatrixView out);

}  // namespace atl
