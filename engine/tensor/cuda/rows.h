// Elements and rows of matrices in kernels, like View's and simd::Strided's on the host.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "tensor/bfloat16.h"
#include "tensor/cpu/simd/loops.h"
#include "tensor/matrix.h"

namespace atl::cuda {

template <class T>
__device__ T* row_of(const View<T>& m, Index r) {
  return m.data + r * m.stride;
}
template <class T>
__device__ T* row_of(const simd::Strided<T>& m, Index r) {
  return m.data + r * m.stride;
}
template <class M>
__device__ auto& at(const M& m, Index r, Index c) {
  return m.data[r * m.stride + c];
}

/// The same for matrices in either storage. kMixed: some of a kernel's matrices may be in halves; otherwise
/// all have Reals.
template <bool kMixed = true, class M>
__device__ Real value_at(const M& m, Index r, Index c) {
  const Index i = r * m.stride + c;
  if constexpr (kMixed)
    if (m.halves != nullptr) return Real(to_float(m.halves[i]));
  return m.data[i];
}
template <bool kMixed = true, class M>
__device__ void put_at(const M& m, Index r, Index c, Real value) {
  const Index i = r * m.stride + c;
  if constexpr (kMixed)
    if (m.halves != nullptr) {
      m.halves[i] = to_bfloat16(float(value));
      return;
    }
  m.data[i] = value;
}
/// Whether the matrix is present.
template <bool kMixed, class M>
__device__ bool is_there(const M& m) {
  return m.data != nullptr || (kMixed && m.halves != nullptr);
}
/// A row of a matrix whose elements are stored as T.
template <class T, class M>
__device__ const T* stored_row(const M& m, Index r) {
  if constexpr (std::is_same_v<T, Bfloat16>) {
    return m.halves + r * m.stride;
  } else {
    return m.data + r * m.stride;
  }
}
/// Whether any of these is in halves.
template <class... M>
bool any_halves(const M&... matrices) {
  return (... || (matrices.halves != nullptr));
}

}  // namespace atl::cuda
