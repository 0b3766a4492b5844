// The reference of every kernel: plain loops that say in a few lines what it computes, whatever the device,
// the vectors and the storage. Each has its kernel's name and arguments, with the shapes that
// tensor/kernels.h gives them, and tells its results to Expected instead of writing them:
//   products.cc  sums over neighbours; dense, sparse and bit products
//   epilogue.cc  the epilogue of a product's rows, there and back, and sums over rows
//   rowwise.cc   what is done row by row or element by element, batch norm's statistics
//   softmax.cc   attention and the other softmax over neighbours
//   step.cc      losses, counts of metrics, optimisers
// A kernel of the catalogue without a case fails, and a case (../cases) without a reference doesn't link.
#pragma once

#include "tensor/kernel_table.h"
#include "tensor/reference/expected.h"

namespace atl::reference {

template <class Kernel>
struct ReferenceOf;
template <class... Formal>
struct ReferenceOf<void(Context&, Formal...)> {
  using Type = void(Expected&, Formal...);
};
#define ATOLL_KERNEL(name) ReferenceOf<decltype(atl::name)>::Type name;
ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL

// ---- what references have in common

/// Element (r, c), in either storage.
inline double at(ConstMatrixView m, Index r, Index c) {
  return m.halves != nullptr ? double(to_float(m.halves[r * m.stride + c])) : double(m.at(r, c));
}
inline bool in_halves(ConstMatrixView m) {
  return m.halves != nullptr;
}
/// The factor of element (row, column): 0, 1 or 1 / (1 − rate).
Near factor(const Dropout& d, Index row, Index column);
/// Writes row r of out: the epilogue of unfinished values (out.cols), which a kernel may have stored in out
/// before.
void put_finished(Expected& expected, const Epilogue& e, Index r, std::vector<Near> values, MatrixView out);

}  // namespace atl::reference
