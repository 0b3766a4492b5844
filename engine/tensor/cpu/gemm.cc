// Dense products of a tall matrix (n rows) and a small one, whose panels are packed once for all chunks of
// rows. The finish finds a chunk's product in the cache.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/cpu/gemm_halves.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

/// A chunk has enough rows to hide the cost of handing it out and to use panels often, few enough for
/// balance, and whole tiles.
RowChunks chunks_of_product(Index rows, Index in, Index out, Index threads) {
  const Index wanted = (Index(1) << 22) / std::max<Index>(1, in * out);
  const Index even = threads == 1 ? rows + 23 : rows / (4 * threads);
  return {rows, std::clamp<Index>(std::max(wanted, even) / 24 * 24, 48, 480)};
}

void product(Context& ctx, ConstMatrixView a, ConstMatrixView w, bool transpose_w, MatrixView out,
             bool accumulate, const simd::Finish& finish) {
  if (a.halves != nullptr || out.halves != nullptr)
    return product_in_halves(ctx, a, w, transpose_w, out, accumulate, finish);
  const simd::Table& loops = simd::loops();
  const Index inner = a.cols;
  const Real* const panels = panels_of(ctx, w, transpose_w, inner, out.cols, false);
  const simd::Product p{plain(a), inner, out.cols, panels, plain_out(out), accumulate, finish};
  const RowChunks chunks = chunks_of_product(out.rows, inner, out.cols, ctx.pool->threads());
  run_chunks(ctx, chunks.count(),
             [&](Index chunk) { loops.product(p, chunks.begin(chunk), chunks.end(chunk)); });
}

/// How aᵀ·b is cut: into ranges of the long dimension, each with a (k, m) partial sum, and blocks of a's k
/// columns.
struct Cut {
  RowChunks ranges, blocks;

  Cut(Index n, Index k, Index m, Index threads) : ranges{n, 1}, blocks{k, 1} {
    constexpr Index kPartialElements = Index(1) << 20;  // all partial sums together
    const Index most = std::clamp<Index>(kPartialElements / std::max<Index>(1, k * m), 1, 32);
    ranges.step = std::max<Index>(512, (n + most - 1) / most);
    const Index enough = 4 * threads;  // pieces of work; a single thread needs only one
    const Index even = threads == 1 ? k : k * std::max<Index>(1, ranges.count()) / enough;
    blocks.step = std::clamp<Index>((even + 11) / 12 * 12, 128, std::max<Index>(k, 128));
  }
};

}  // namespace

void gemm(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  product(ctx, a, w, false, out, accumulate, plain(epilogue));
}

void gemm_bt(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
             const Dropout& after) {
  product(ctx, a, w, true, out, accumulate, plain(Epilogue{.dropout = after}));
}

void gemm_at(Context& ctx, ConstMatrixView a, const Dropout& dropout, ConstMatrixView b, MatrixView out,
             bool accumulate, Index first) {
  const Index k = out.rows, m = out.cols;
  const Cut cut(a.rows, k, m, ctx.pool->threads());
  const Index ranges = cut.ranges.count(), widest = std::min(cut.blocks.step, k);
  static constexpr ScratchKey kPartial;
  const bool whole_rows = ranges == 1;  // if so, there are no partial sums
  const MatrixView partial =
      whole_rows ? out : ctx.workspace->matrix(kPartial, std::max<Index>(ranges, 1) * k, m);
  const CopiedRows copies(ctx, a, dropout, b, widest);
  ctx.pool->run(ranges * cut.blocks.count(), [&](Index chunk, int thread) {
    const Index range = chunk / cut.blocks.count(), block = chunk % cut.blocks.count();
    const Index begin = cut.ranges.begin(range), end = cut.ranges.end(range);
    const Index column = cut.blocks.begin(block), cols = cut.blocks.end(block) - column;
    const MatrixView into = partial.slice_rows(range * k + column, cols);
    const simd::ProductAt whole{plain(a.slice_cols(first + column, cols)),
                                plain(b),
                                cols,
                                m,
                                plain_out(into),
                                whole_rows && accumulate};
    if (!copies.any()) return simd::loops().product_at(whole, begin, end);
    copies.product_at(whole, thread, first + column, begin, end);
  });
  if (whole_rows) return;
  for_rows(ctx, k, m * std::max<Index>(ranges, 1), [&](Index begin, Index end) {
    if (!accumulate) {
      for (Index row = begin; row < end; ++row) std::fill(out.row(row), out.row(row) + m, Real(0));
    }
    for (Index range = 0; range < ranges; ++range) {
      simd::loops().axpby(1, plain(partial.slice_rows(range * k, k)), 1, plain_out(out), m, begin, end);
    }
  });
}

}  // namespace atl::cpu
