// Converts the catalogue's arguments to the inner loops' plain pointers, which every device's kernels use.
#pragma once

#include "tensor/cpu/simd/loops.h"
#include "tensor/kernels.h"

namespace atl {

inline simd::In plain(ConstMatrixView v) {
  return {v.empty() ? nullptr : v.data, v.stride, v.empty() ? nullptr : v.halves};
}
inline simd::Out plain_out(MatrixView v) {
  return {v.empty() ? nullptr : v.data, v.stride, v.empty() ? nullptr : v.halves};
}

simd::Mask plain(const Dropout& dropout);
simd::Finish plain(const Epilogue& epilogue);

// The results lack the arcs' offsets and columns, which the caller passes separately.
simd::Spmm sum_of_rows(const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
                       const Epilogue& epilogue);
simd::Spmm sum_of_values(const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                         const Epilogue& epilogue);
/// Sums rows first … first + out.rows − 1 of the transpose; transposed_rows() has their arcs.
simd::Spmm sum_of_transpose(const SparseRows& x, const Dropout& dropout, ConstMatrixView b, MatrixView out,
                            bool accumulate, Index first);
CsrView transposed_rows(const SparseRows& x, Index first, Index rows);

simd::BitProduct product_of_bits(const BitRows& x, ConstMatrixView w, MatrixView out, bool accumulate,
                                 const Epilogue& epilogue);
simd::BitProduct product_of_transpose(const BitRows& x, ConstMatrixView b, MatrixView out, bool accumulate,
                                      Index first);

/// `out` is only read, by the backward pass.
simd::SoftmaxSum softmax_sum(const CsrView& csr, Real t, ConstMatrixView m, const SoftmaxState& state,
                             ConstMatrixView out);

}  // namespace atl
