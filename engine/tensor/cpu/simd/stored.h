// Lets a loop take rows in either storage. With kMixed a place in a row knows how it is stored. Without, it
// is a pointer to Reals, and the loop is the same as without support for halves.
#pragma once

#include "tensor/cpu/simd/loops.h"
#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {

/// A place in a row.
template <class T>
struct Place {
  T* data;
  typename HalfOf<T>::Type* halves;

  Place operator+(Index columns) const {
    return halves != nullptr ? Place{data, halves + columns} : Place{data + columns, halves};
  }
};
template <class T>
inline Vec load(Place<T> p, int n) {
  return p.halves != nullptr ? load(p.halves, n) : load(p.data, n);
}
inline void store(Place<Real> p, Vec v, int n) {
  p.halves != nullptr ? store(p.halves, v, n) : store(p.data, v, n);
}

inline void prefetch(const Real* p) {
  __builtin_prefetch(p);
}
template <class T>
inline void prefetch(Place<T> p) {
  if (p.halves != nullptr) {
    __builtin_prefetch(p.halves);
  } else {
    __builtin_prefetch(p.data);
  }
}

template <bool kMixed, class T>
inline auto row_of(const Strided<T>& m, Index row) {
  if constexpr (kMixed) {
    return m.halves != nullptr ? Place<T>{m.data, m.halves + row * m.stride} : Place<T>{m.row(row), m.halves};
  } else {
    return m.row(row);
  }
}

/// Calls f.operator()<kMixed>(), where kMixed says whether any of these is in halves.
template <class F, class... Matrices>
inline void with_storage(F f, const Matrices&... matrices) {
  if ((... || (matrices.halves != nullptr))) {
    f.template operator()<true>();
  } else {
    f.template operator()<false>();
  }
}

}  // namespace atl::simd::ATOLL_LEVEL
