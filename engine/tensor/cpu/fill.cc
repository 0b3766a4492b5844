// Constant matrices, and sums that begin at 0.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {

namespace {

/// Fills `elements`, which have the shape of `out`. is_zero: all bits of the value are zero.
template <class T>
void fill(Context& ctx, T value, bool is_zero, T* elements, MatrixView out) {
  const auto put = [&](T* to, Index count) {
    if (is_zero)
      std::memset(static_cast<void*>(to), 0, std::size_t(count) * sizeof(T));
    else
      std::fill_n(to, count, value);
  };
  if (out.contiguous())
    return for_rows(ctx, out.rows * out.cols, 1,
                    [&](Index begin, Index end) { put(elements + begin, end - begin); });
  for_rows(ctx, out.rows, out.cols, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) put(elements + r * out.stride, out.cols);
  });
}

}  // namespace

void fill(Context& ctx, Real value, MatrixView out) {
  const bool is_zero = value == 0 && !std::signbit(value);
  if (out.halves == nullptr) return fill(ctx, value, is_zero, out.data, out);
  fill(ctx, to_bfloat16(float(value)), is_zero, out.halves, out);
}

void zero_sums(Context& ctx, std::span<double> sums) {
  for_rows(ctx, Index(sums.size()), 1,
           [&](Index begin, Index end) { std::fill_n(&sums[std::size_t(begin)], end - begin, 0.0); });
}

}  // namespace atl::cpu
