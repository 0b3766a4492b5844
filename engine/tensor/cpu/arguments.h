// From the catalogue's arguments to the plain pointers of the inner loops.
#pragma once

#include "tensor/cpu/simd/loops.h"
#include "tensor/kernels.h"

namespace atl {

inline simd::In plain(ConstMatrixView v) {
  return {v.empty() ? nullptr : v.data, v.stride};
}
inline simd::Out plain_out(MatrixView v) {
  return {v.empty() ? nullptr : v.data, v.stride};
}

simd::Mask plain(const Dropout& dropout);
simd::Finish plain(const Epilogue& epilogue);

}  // namespace atl
