// Products of the emulated libraries: plain loops over matrices in column order, of Reals or halves.
#pragma once

#include <cstddef>

#include "tensor/bfloat16.h"

namespace emulated {

/// An operand in cuBLAS's form: (rows, cols) after its operation.
template <class T>
struct Operand {
  const T* data;
  bool transposed;
  std::ptrdiff_t distance;
  T at(std::ptrdiff_t row, std::ptrdiff_t col) const {
    return transposed ? data[row * distance + col] : data[col * distance + row];
  }
};

inline double number(double value) {
  return value;
}
inline float number(float value) {
  return value;
}
inline float number(atl::Bfloat16 value) {
  return atl::to_float(value);
}
template <class T>
void put(T& to, T value) {
  to = value;
}
inline void put(atl::Bfloat16& to, float value) {
  to = atl::to_bfloat16(value);
}

/// c (m, n) = finish(one · a · b + beta · c, row). T: the type of the sums. Doesn't read c where beta is 0.
template <class T, class In, class Out, class Finish>
void multiply(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, T one, const Operand<In>& a,
              const Operand<In>& b, T beta, Out* c, std::ptrdiff_t distance, const Finish& finish) {
  for (std::ptrdiff_t col = 0; col < n; ++col) {
    for (std::ptrdiff_t row = 0; row < m; ++row) {
      T sum = 0;
      for (std::ptrdiff_t i = 0; i < k; ++i) sum += number(a.at(row, i)) * number(b.at(i, col));
      Out& to = c[col * distance + row];
      put(to, finish(beta == 0 ? one * sum : one * sum + beta * number(to), row));
    }
  }
}

}  // namespace emulated
