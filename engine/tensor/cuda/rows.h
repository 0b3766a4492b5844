// Elements and rows of matrices, to a kernel: what View and simd::Strided say for the host.
#pragma once

#include <cuda_runtime.h>

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

/// The same of matrices that are stored either way.
template <class M>
__device__ Real value_at(const M& m, Index r, Index c) {
  const Index i = r * m.stride + c;
  return m.halves != nullptr ? Real(to_float(m.halves[i])) : m.data[i];
}
template <class M>
__device__ void put_at(const M& m, Index r, Index c, Real value) {
  const Index i = r * m.stride + c;
  if (m.halves != nullptr) {
    m.halves[i] = to_bfloat16(float(value));
  } else {
    m.data[i] = value;
  }
}

}  // namespace atl::cuda
