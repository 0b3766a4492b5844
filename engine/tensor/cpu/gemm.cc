// Dense products with a tall matrix (n rows) and a small one, whose panels are packed once for all chunks of rows; what follows a
// chunk's product finds it in the cache.
#include "tensor/constants.h"
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

/// Rows enough to hide the hand-out and to use panels often, few enough for balance; in whole tiles.
RowChunks chunks_of_product(Index rows, Index in, Index out, Index threads) {
  const Index wanted = (Index(1) << 22) / std::max<Index>(1, in * out);
  const Index even = threads == 1 ? rows + 23 : rows / (4 * threads);
  return {rows, std::clamp<Index>(std::max(wanted, even) / 24 * 24, 48, 480)};
}

/// w as product() wants it: packed by the first call for all that find it as it was.
const Real* panels_of(Context& ctx, ConstMatrixView w, bool transpose, Index inner, Index cols) {
  const simd::Table& loops = simd::loops();
  const Made made = transpose ? Made::kTransposedPanels : Made::kPanels;
  const Constants::Place panels = place_of(ctx, w, made, "gemm.panels", 1, loops.panel_elements(inner, cols));
  // By the pool, so that a dry one leaves it out.
  if (!panels.is_made)
    run_chunks(ctx, 1,
               [&](Index) { loops.pack_panels(plain(w), transpose, inner, cols, panels.values.data); });
  return panels.values.data;
}

void product(Context& ctx, ConstMatrixView a, ConstMatrixView w, bool transpose_w, MatrixView out,
             bool accumulate, const simd::Finish& finish) {
  const simd::Table& loops = simd::loops();
  const Index inner = a.cols;
  const Real* const panels = panels_of(ctx, w, transpose_w, inner, out.cols);
  const simd::Product p{plain(a), inner, out.cols, panels, plain_out(out), accumulate, finish};
  const RowChunks chunks = chunks_of_product(out.rows, inner, out.cols, ctx.pool->threads());
  run_chunks(ctx, chunks.count(),
             [&](Index chunk) { loops.product(p, chunks.begin(chunk), chunks.end(chunk)); });
}

/// How aᵀ·b is cut: ranges of the long dimension, each with a (k, m) partial sum, and blocks of a's k columns.
struct Cut {
  RowChunks ranges, blocks;

  Cut(Index n, Index k, Index m, Index threads) : ranges{n, 1}, blocks{k, 1} {
    constexpr Index kPartialElements = Index(1) << 20;  // of all partial sums together
    const Index most = std::clamp<Index>(kPartialElements / std::max<Index>(1, k * m), 1, 32);
    ranges.step = std::max<Index>(512, (n + most - 1) / most);
    const Index enough = 4 * threads;  // pieces of work; of one thread, one
    const Index even = threads == 1 ? k : k * std::max<Index>(1, ranges.count()) / enough;
    blocks.step = std::clamp<Index>((even + 11) / 12 * 12, 128, std::max<Index>(k, 128));
  }
};

constexpr Index kDroppedRows =
    256;  // as many as product_at sums up at once: with their draws they stay in the cache

/// Some rows of a range's product with dropout(a), whose columns begin at `column` of the draws; `dropped` has room for
/// kDroppedRows.
void product_at_dropped(const simd::ProductAt& whole, const simd::Mask& mask, Index column, Index begin,
                        Index end, MatrixView dropped) {
  const simd::Table& loops = simd::loops();
  for (Index row = begin; row == begin || row < end; row += kDroppedRows) {
    const Index count = std::min(kDroppedRows, end - row);
    simd::ProductAt part = whole;
    part.a = plain(ConstMatrixView(dropped));
    part.b.data += row * whole.b.stride;
    part.accumulate = whole.accumulate || row > begin;
    const simd::Mask own{mask.threshold, mask.scale, mask.key, mask.ids + row, mask.first_column};
    const simd::In rows{whole.a.row(row), whole.a.stride};
    loops.dropout(own, rows, plain_out(dropped), column, whole.a_cols, 0, count);
    loops.product_at(part, 0, count);
  }
}

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
  const bool whole_rows = ranges == 1;  // then there are no partial sums
  const MatrixView partial =
      whole_rows ? out : ctx.workspace->matrix("gemm_at.partial", std::max<Index>(ranges, 1) * k, m);
  MatrixView dropped;
  if (dropout) dropped = ctx.workspace->matrix("gemm_at.dropped", ctx.pool->threads() * kDroppedRows, widest);
  const simd::Mask mask = plain(dropout);
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
    if (!dropout) return simd::loops().product_at(whole, begin, end);
    const MatrixView rows = dropped.slice_rows(thread * kDroppedRows, kDroppedRows).slice_cols(0, cols);
    product_at_dropped(whole, mask, first + column, begin, end, rows);
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
