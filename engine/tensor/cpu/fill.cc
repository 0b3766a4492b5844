// Constant matrices and sums that begin at 0.
#include <algorithm>

#include "tensor/cpu/chunks.h"
#include "tensor/kernels.h"

namespace atl {

void fill(Context& ctx, Real value, MatrixView out) {
  if (out.empty()) return;
  const RowChunks chunks{out.rows, 4096};
  run_chunks(ctx, chunks.count(), [&](Index chunk) {
    for (Index r = chunks.begin(chunk); r < chunks.end(chunk); ++r) std::fill_n(out.row(r), out.cols, value);
  });
}

std::span<double> zeroed_sums(Context& ctx, std::string_view name, Index count) {
  const std::span<double> sums = ctx.workspace->doubles(name, count);
  for_rows(ctx, count, 1,
           [&](Index begin, Index end) { std::fill_n(&sums[std::size_t(begin)], end - begin, 0.0); });
  return sums;
}

}  // namespace atl
