// Elements and rows of matrices, to a kernel: what View and simd::Strided say for the host.
#pragma once

#include <cuda_runtime.h>

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

}  // namespace atl::cuda
