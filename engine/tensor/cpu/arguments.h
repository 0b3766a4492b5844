// From the catalogue's arguments to the plain pointers of the inner loops; shapes are checked on the way.
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

/// Checks that there is an id for each of `rows` rows.
simd::Mask plain(const Dropout& dropout, Index rows);
/// An epilogue of `rows` rows and `cols` columns.
simd::Finish plain(const Epilogue& epilogue, Index rows, Index cols);

}  // namespace atl
