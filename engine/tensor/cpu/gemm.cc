// Dense products with a tall matrix (n rows) and a small one, whose panels are packed once a call for all chunks of
// rows; what follows a chunk's product finds it in the cache.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

/// Rows enough to hide the hand-out, few enough for balance; in whole tiles.
RowChunks chunks_of_product(Index rows, Index in, Index out) {
  const Index wanted = (Index(1) << 22) / std::max<Index>(1, in * out);
  return {rows, std::clamp<Index>(wanted / 24 * 24, 48, 480)};
}

void product(Context& ctx, ConstMatrixView a, ConstMatrixView w, bool transpose_w, MatrixView out,
             bool accumulate, const simd::Finish& finish) {
  const simd::Table& loops = simd::loops();
  const Index inner = a.cols;
  const MatrixView panels = ctx.workspace->matrix("gemm.panels", 1, loops.panel_elements(inner, out.cols));
  loops.pack_panels(plain(w), transpose_w, inner, out.cols, panels.data);
  const simd::Product p{plain(a), inner, out.cols, panels.data, plain_out(out), accumulate, finish};
  const RowChunks chunks = chunks_of_product(out.rows, inner, out.cols);
  run_chunks(ctx, chunks.count(),
             [&](Index chunk) { loops.product(p, chunks.begin(chunk), chunks.end(chunk)); });
}

/// How aᵀ·b is cut: ranges of the long dimension, each with a (k, m) partial sum, and blocks of a's k columns.
struct Cut {
  RowChunks ranges, blocks;

  Cut(Index n, Index k, Index m) : ranges{n, 1}, blocks{k, 1} {
    constexpr Index kPartialElements = Index(1) << 20;  // of all partial sums together
    const Index most = std::clamp<Index>(kPartialElements / std::max<Index>(1, k * m), 1, 32);
    ranges.step = std::max<Index>(512, (n + most - 1) / most);
    blocks.step = ranges.count() >= 16 ? std::max<Index>(k, 1) : 128;
  }
};

}  // namespace

void gemm(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  ATOLL_CHECK(a.rows == out.rows && a.cols == w.rows && w.cols == out.cols, "({} x {}) ({} x {}) -> {} x {}",
              a.rows, a.cols, w.rows, w.cols, out.rows, out.cols);
  if (!out.empty()) product(ctx, a, w, false, out, accumulate, plain(epilogue, out.rows, out.cols));
}

void gemm_bt(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
             const Dropout& after) {
  ATOLL_CHECK(a.rows == out.rows && a.cols == w.cols && w.rows == out.cols, "({} x {}) ({} x {})T -> {} x {}",
              a.rows, a.cols, w.rows, w.cols, out.rows, out.cols);
  if (!out.empty()) {
    product(ctx, a, w, true, out, accumulate, plain(Epilogue{.dropout = after}, out.rows, out.cols));
  }
}

void gemm_at(Context& ctx, ConstMatrixView a, ConstMatrixView b, MatrixView out, bool accumulate) {
  ATOLL_CHECK(a.rows == b.rows && a.cols == out.rows && b.cols == out.cols, "({} x {})T ({} x {}) -> {} x {}",
              a.rows, a.cols, b.rows, b.cols, out.rows, out.cols);
  const Index k = out.rows, m = out.cols;
  if (out.empty()) return;
  const Cut cut(a.rows, k, m);
  const Index ranges = cut.ranges.count();
  const MatrixView partial = ctx.workspace->matrix("gemm_at.partial", std::max<Index>(ranges, 1) * k, m);
  run_chunks(ctx, ranges * cut.blocks.count(), [&](Index chunk) {
    const Index range = chunk / cut.blocks.count(), block = chunk % cut.blocks.count();
    const Index begin = cut.ranges.begin(range), rows = cut.ranges.end(range) - begin;
    const Index first = cut.blocks.begin(block), cols = cut.blocks.end(block) - first;
    simd::loops().product_at({plain(a.slice_cols(first, cols)), plain(b), cols, m,
                              plain_out(partial.slice_rows(range * k + first, cols))},
                             begin, begin + rows);
  });
  for_rows(ctx, k, m * std::max<Index>(ranges, 1), [&](Index begin, Index end) {
    if (!accumulate) {
      for (Index row = begin; row < end; ++row) std::fill(out.row(row), out.row(row) + m, Real(0));
    }
    for (Index range = 0; range < ranges; ++range) {
      simd::loops().axpby(1, plain(partial.slice_rows(range * k, k)), 1, plain_out(out), m, begin, end);
    }
  });
}

}  // namespace atl
