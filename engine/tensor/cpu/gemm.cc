// Dense products with a tall matrix (n rows) and a small one: single-threaded OpenBLAS on chunks of rows, so
// that what follows a chunk's product finds it in the second-level cache.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/blas.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

/// Rows whose input and output fit the second-level cache beside the weights.
RowChunks chunks_of_product(Index rows, Index in, Index out) {
  const Index fitting = (Index(512) << 10) / Index(sizeof(Real)) / std::max<Index>(1, in + out);
  return {rows, std::clamp<Index>(fitting / 16 * 16, 64, 512)};
}

void product(Context& ctx, ConstMatrixView a, ConstMatrixView w, bool transpose_w, MatrixView out,
             bool accumulate, const simd::Finish& finish) {
  const RowChunks chunks = chunks_of_product(out.rows, a.cols, out.cols);
  run_chunks(ctx, chunks.count(), [&](Index chunk) {
    const Index begin = chunks.begin(chunk), end = chunks.end(chunk);
    blas_product(false, transpose_w, a.slice_rows(begin, end - begin), w, accumulate ? Real(1) : Real(0),
                 out.slice_rows(begin, end - begin));
    if (!finish.nothing) simd::loops().finish(finish, plain_out(out), begin, end, 0, out.cols);
  });
}

/// How aᵀ·b is cut: ranges of the long dimension, each with a (k, m) partial sum, and blocks of k columns of
/// a.
struct Cut {
  RowChunks ranges, blocks;

  Cut(Index n, Index k, Index m) : ranges{n, 1}, blocks{k, 1} {
    constexpr Index kPartialElements = Index(1) << 22;  // of all partial sums together
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
    blas_product(true, false, a.slice_rows(begin, rows).slice_cols(first, cols), b.slice_rows(begin, rows), 0,
                 partial.slice_rows(range * k + first, cols));
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
