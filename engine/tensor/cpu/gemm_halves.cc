#include "tensor/cpu/gemm_halves.h"

#include "tensor/bfloat16.h"
#include "tensor/context.h"
#include "tensor/cpu/chunks.h"

namespace atl::cpu {
namespace {

constexpr Index kCopied =
    // rows copied at a time: as many as are summed at once. With their draws they stay in the cache
    simd::kPairedRows;

constexpr ScratchKey kPanels;

/// The finish for rows from `begin` on.
simd::Finish from_row(const simd::Finish& finish, Index begin) {
  simd::Finish f = finish;
  f.mask = f.mask.from(begin);
  if (f.row_stats) f.row_stats.data += begin * f.row_stats.stride;
  if (f.residual.data != nullptr) f.residual.data += begin * f.residual.stride;
  if (f.residual.halves != nullptr) f.residual.halves += begin * f.residual.stride;
  return f;
}

/// The matrix from row `begin` on.
simd::In from_row(simd::In m, Index begin) {
  if (m.halves != nullptr) return {nullptr, m.stride, m.halves + begin * m.stride};
  return {m.row(begin), m.stride, nullptr};
}

void copy_rows(simd::In from, simd::Out to, Index cols, Index count) {
  simd::loops().axpby(1, from, 0, to, cols, 0, count);
}

simd::In as_input(simd::Out m) {
  return {m.data, m.stride, m.halves};
}

const std::uint32_t* pair_panels_of(Context& ctx, const simd::PairLoops& loops, ConstMatrixView w,
                                    bool transposed, Index inner, Index cols) {
  const Made made = transposed ? Made::kTransposedPairs : Made::kPairs;
  const Constants::Place panels = place_of(ctx, w, made, kPanels, 1, loops.pair_words(inner, cols));
  auto* const words = reinterpret_cast<std::uint32_t*>(panels.values.data);
  if (!panels.is_made)
    run_chunks(ctx, 1, [&](Index) { loops.pack_pairs(plain(w), transposed, inner, cols, words); });
  return words;
}

/// A chunk of a product in Reals or pairs, from row `begin` on.
struct ChunkProduct {
  Index inner, cols;
  bool accumulate;
  const Real* panels = nullptr;
  const std::uint32_t* words = nullptr;  // not null: a product of pairs
  const simd::PairLoops* pairs = nullptr;

  void run(simd::In a, simd::Out out, const simd::Finish& finish, Index count) const {
    if (words != nullptr)
      return pairs->product_pairs({a, inner, cols, words, out, accumulate, finish}, 0, count);
    simd::loops().product({a, inner, cols, panels, out, accumulate, finish}, 0, count);
  }
};

/// Room for each thread's `step` rows in Reals, if `of` is in halves.
MatrixView room_in_reals(Context& ctx, const ScratchKey& room, ConstMatrixView of, Index step) {
  return of.halves == nullptr ? MatrixView()
                              : ctx.workspace->matrix(room, ctx.pool->threads() * step, of.cols);
}

}  // namespace

/// w in the form that product() takes. The first call packs it for all later calls that find it unchanged.
/// `rounded`: as if it were stored in halves.
const Real* panels_of(Context& ctx, ConstMatrixView w, bool transposed, Index inner, Index cols,
                      bool rounded) {
  const simd::Table& loops = simd::loops();
  const Made made = rounded      ? (transposed ? Made::kTransposedRounded : Made::kRoundedPanels)
                    : transposed ? Made::kTransposedPanels
                                 : Made::kPanels;
  const Index elements = loops.panel_elements(inner, cols);
  const Constants::Place panels = place_of(ctx, w, made, kPanels, 1, elements);
  const auto pack = [&](Index) {
    Real* const to = panels.values.data;
    loops.pack_panels(plain(w), transposed, inner, cols, to);
    for (Index i = 0; rounded && i < elements; ++i) to[i] = Real(to_float(to_bfloat16(float(to[i]))));
  };
  if (!panels.is_made) run_chunks(ctx, 1, pack);  // on the pool, so that a dry one skips it
  return panels.values.data;
}

void product_in_halves(Context& ctx, ConstMatrixView a, ConstMatrixView w, bool transposed, MatrixView out,
                       bool accumulate, const simd::Finish& finish) {
  constexpr Index kElements = Index(1) << 16;  // per chunk
  ChunkProduct product{a.cols, out.cols, accumulate};
  product.pairs = a.halves != nullptr ? simd::loops().pairs : nullptr;
  if (product.pairs != nullptr)
    product.words = pair_panels_of(ctx, *product.pairs, w, transposed, a.cols, out.cols);
  else
    product.panels = panels_of(ctx, w, transposed, a.cols, out.cols, a.halves != nullptr);
  constexpr Index kWhole = 96;  // rows: whole blocks of 24 and of 32, whichever loops multiply them
  const RowChunks chunks{
      out.rows, std::clamp<Index>(kElements / (a.cols + out.cols) / kWhole * kWhole, kWhole, 3 * kWhole)};
  static constexpr ScratchKey kRows, kResults;
  const MatrixView read = product.pairs != nullptr ? MatrixView() : room_in_reals(ctx, kRows, a, chunks.step);
  const MatrixView written = room_in_reals(ctx, kResults, out, chunks.step);
  ctx.pool->run(chunks.count(), [&](Index chunk, int thread) {
    const Index begin = chunks.begin(chunk), count = chunks.end(chunk) - begin;
    simd::In in = plain(a.slice_rows(begin, count));
    const simd::Out result = plain_out(out.slice_rows(begin, count));
    if (read.cols > 0) {
      const simd::Out copy = plain_out(read.slice_rows(thread * chunks.step, count));
      copy_rows(in, copy, a.cols, count);
      in = as_input(copy);
    }
    if (written.cols == 0) return product.run(in, result, from_row(finish, begin), count);
    const simd::Out reals = plain_out(written.slice_rows(thread * chunks.step, count));
    if (accumulate) copy_rows(as_input(result), reals, out.cols, count);
    product.run(in, reals, from_row(finish, begin), count);
    copy_rows(as_input(reals), result, out.cols, count);
  });
}

CopiedRows::CopiedRows(Context& ctx, ConstMatrixView a, const Dropout& dropout, ConstMatrixView b,
                       Index widest)
    : mask_(plain(dropout)) {
  static constexpr ScratchKey kWords, kCopyOfA, kCopyOfB;
  const Index copied = ctx.pool->threads() * kCopied;
  if (a.halves != nullptr && b.halves != nullptr) pairs_ = simd::loops().pairs;
  if (pairs_ != nullptr) {
    const Index words = simd::ProductAtPairs{.a_cols = widest}.words_step();
    words_ = ctx.workspace->matrix(kWords, copied / 2, words);
    if (dropout) a_ = ctx.workspace->matrix(kCopyOfA, copied, widest, Storage::kHalves);
    return;
  }
  if (dropout || a.halves != nullptr) a_ = ctx.workspace->matrix(kCopyOfA, copied, widest);
  if (b.halves != nullptr) b_ = ctx.workspace->matrix(kCopyOfB, copied, b.cols);
}

/// Rows of whole.a from `row` on, copied if they must be.
simd::In CopiedRows::read_a(const simd::ProductAt& whole, int thread, Index column, Index row,
                            Index count) const {
  const simd::In rows = from_row(whole.a, row);
  if (a_.cols == 0) return rows;
  const simd::Out copy = plain_out(a_.slice_rows(thread * kCopied, count));
  if (mask_.threshold == 0) {
    copy_rows(rows, copy, whole.a_cols, count);
  } else {
    simd::loops().dropout(mask_.from(row), rows, copy, column, whole.a_cols, 0, count);
  }
  return as_input(copy);
}

void CopiedRows::product_at(const simd::ProductAt& whole, int thread, Index column, Index begin,
                            Index end) const {
  if (pairs_ != nullptr) return product_of_pairs(whole, thread, column, begin, end);
  for (Index row = begin; row == begin || row < end; row += kCopied) {
    const Index count = std::min(kCopied, end - row);
    simd::ProductAt part = whole;
    part.accumulate = whole.accumulate || row > begin;
    part.a = read_a(whole, thread, column, row, count);
    part.b = from_row(whole.b, row);
    if (b_.cols > 0) {
      const simd::Out copy = plain_out(b_.slice_rows(thread * kCopied, count));
      copy_rows(part.b, copy, whole.b_cols, count);
      part.b = as_input(copy);
    }
    simd::loops().product_at(part, 0, count);
  }
}

void CopiedRows::product_of_pairs(const simd::ProductAt& whole, int thread, Index column, Index begin,
                                  Index end) const {
  Real* const words = words_.row(thread * kCopied / 2);
  for (Index row = begin; row == begin || row < end; row += kCopied) {
    const Index count = std::min(kCopied, end - row);
    pairs_->product_at_pairs({.a = read_a(whole, thread, column, row, count),
                              .b = from_row(whole.b, row),
                              .a_cols = whole.a_cols,
                              .b_cols = whole.b_cols,
                              .out = whole.out,
                              .accumulate = whole.accumulate || row > begin,
                              .words = reinterpret_cast<std::uint32_t*>(words)},
                             0, count);
  }
}

}  // namespace atl::cpu
