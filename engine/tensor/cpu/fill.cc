// Constant matrices and sums that begin at 0.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {

void fill(Context& ctx, Real value, MatrixView out) {
  const bool is_zero = value == 0 && !std::signbit(value);
  const auto put = [&](Real* to, Index count) {
    if (is_zero)
      std::memset(to, 0, std::size_t(count) * sizeof(Real));
    else
      std::fill_n(to, count, value);
  };
  if (out.contiguous())
    return for_rows(ctx, out.rows * out.cols, 1,
                    [&](Index begin, Index end) { put(out.data + begin, end - begin); });
  for_rows(ctx, out.rows, out.cols, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) put(out.row(r), out.cols);
  });
}

void zero_sums(Context& ctx, std::span<double> sums) {
  for_rows(ctx, Index(sums.size()), 1,
           [&](Index begin, Index end) { std::fill_n(&sums[std::size_t(begin)], end - begin, 0.0); });
}

}  // namespace atl::cpu
