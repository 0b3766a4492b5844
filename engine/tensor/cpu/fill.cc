// Constant matrices.
#include <algorithm>

#include "tensor/kernels.h"

namespace atl {

void fill(Context& ctx, Real value, MatrixView out) {
  if (out.empty()) return;
  constexpr Index kRows = 4096;  // a chunk
  ctx.pool->run((out.rows + kRows - 1) / kRows, [&](Index chunk, int) {
    for (Index r = chunk * kRows; r < std::min(out.rows, (chunk + 1) * kRows); ++r) {
      std::fill_n(out.row(r), out.cols, value);
    }
  });
}

}  // namespace atl
