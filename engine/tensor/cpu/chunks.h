// Cuts work for the pool by shape alone, never by the number of threads, so that results don't depend on it.
#pragma once

#include <algorithm>
#include <functional>

#include "tensor/context.h"
#include "tensor/rows.h"

namespace atl {

/// Runs work(chunk) for each chunk on the context's threads. Doesn't allocate.
template <class F>
void run_chunks(Context& ctx, Index chunks, F&& work) {
  auto body = [&work](Index chunk, int) { work(chunk); };
  ctx.pool->run(chunks, std::ref(body));
}

/// Rows 0 … rows − 1 in ranges of `step`.
struct RowChunks {
  Index rows, step;
  Index count() const { return (rows + step - 1) / step; }
  Index begin(Index chunk) const { return chunk * step; }
  Index end(Index chunk) const { return std::min(rows, (chunk + 1) * step); }
};

/// Ranges of about 32 K elements: large enough to hide the cost of a hand-out, small enough for the cache and
/// for balance.
inline RowChunks chunks_of_rows(Index rows, Index cols) {
  return {rows, std::max<Index>(1, 32768 / std::max<Index>(1, cols))};
}

/// The same, but at most kFewChunks ranges, for loops in which each range leaves a partial sum.
inline constexpr Index kFewChunks = 64;
inline RowChunks few_chunks_of_rows(Index rows, Index cols) {
  const RowChunks fine = chunks_of_rows(rows, cols);
  return {rows, std::max(fine.step, (rows + kFewChunks - 1) / kFewChunks)};
}

/// Calls work(begin, end) for ranges of rows.
template <class F>
void for_rows(Context& ctx, Index rows, Index cols, F&& work) {
  const RowChunks chunks = chunks_of_rows(rows, cols);
  run_chunks(ctx, chunks.count(), [&](Index chunk) { work(chunks.begin(chunk), chunks.end(chunk)); });
}

/// Ranges of rows with about equally many arcs (a row counts as one more). A row is never split.
struct ArcChunks {
  static constexpr Index kStep = 4096;
  const CsrView& csr;

  Index count() const { return (csr.rows + csr.arcs() + kStep - 1) / kStep; }
  Index begin(Index chunk) const { return chunk == 0 ? 0 : stop(chunk * kStep); }
  Index end(Index chunk) const { return chunk + 1 == count() ? csr.rows : stop((chunk + 1) * kStep); }

 private:
  /// The first row before which arcs and rows together number at least `cost`.
  Index stop(Index cost) const {
    Index low = 0, high = csr.rows;
    while (low < high) {
      const Index middle = (low + high) / 2;
      if (csr.offsets[middle] - csr.offsets[0] + middle < cost) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

}  // namespace atl
