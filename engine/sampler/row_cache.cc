#include "sampler/row_cache.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/error.h"

namespace atl {

Index RowCache::row_bytes(Index cols) {
  return cols * Index(sizeof(Real)) + Index(sizeof(Use)) + 4 * Index(sizeof(Cell));
}

RowCache::RowCache(Index rows, Index cols, bool replaces) : replaces_(replaces) {
  ATOLL_CHECK(rows >= 0 && rows <= std::numeric_limits<VertexId>::max() && cols > 0, "{} rows of {} columns",
              rows, cols);
  rows_.resize(rows, cols);
  cells_.resize(std::bit_ceil(std::size_t(2 * rows) + 1));
  uses_.resize(std::size_t(rows));
}

std::size_t RowCache::home(VertexId row) const {
  return (std::uint64_t(std::uint32_t(row)) * 0x9e3779b97f4a7c15ull >> 32) & (cells_.size() - 1);
}

/// Where the row stands, or the free cell where it would.
std::size_t RowCache::cell_of(VertexId row) const {
  std::size_t at = home(row);
  while (cells_[at].row != row && cells_[at].row != kNone) at = (at + 1) & (cells_.size() - 1);
  return at;
}

const Real* RowCache::find(VertexId row) {
  const Cell& cell = cells_[cell_of(row)];
  if (cell.row == kNone) return nullptr;
  if (replaces_ && cell.slot != newest_) {
    unlink(cell.slot);
    make_newest(cell.slot);
  }
  return rows_.view().row(cell.slot);
}

void RowCache::put(VertexId row, const Real* values) {
  if (capacity() == 0 || (size_ == capacity() && !replaces_) || cells_[cell_of(row)].row == row) return;
  const VertexId slot = free_slot();
  cells_[cell_of(row)] = {row, slot};
  uses_[std::size_t(slot)].row = row;
  make_newest(slot);
  std::copy_n(values, rows_.cols(), rows_.view().row(slot));
}

VertexId RowCache::free_slot() {
  if (size_ < capacity()) return VertexId(size_++);
  const VertexId slot = oldest_;
  unlink(slot);
  forget(uses_[std::size_t(slot)].row);
  return slot;
}

/// Closes the gap: whoever stands behind it, no nearer to home than the gap allows, moves up (Knuth, vol. 3, 6.4, algorithm R).
void RowCache::forget(VertexId row) {
  const std::size_t mask = cells_.size() - 1;
  std::size_t gap = cell_of(row);
  for (std::size_t at = (gap + 1) & mask; cells_[at].row != kNone; at = (at + 1) & mask) {
    const std::size_t from_home = (at - home(cells_[at].row)) & mask, from_gap = (at - gap) & mask;
    if (from_home < from_gap) continue;
    cells_[gap] = cells_[at];
    gap = at;
  }
  cells_[gap] = {};
}

void RowCache::unlink(VertexId slot) {
  const Use& use = uses_[std::size_t(slot)];
  (use.newer == kNone ? newest_ : uses_[std::size_t(use.newer)].older) = use.older;
  (use.older == kNone ? oldest_ : uses_[std::size_t(use.older)].newer) = use.newer;
}

void RowCache::make_newest(VertexId slot) {
  Use& use = uses_[std::size_t(slot)];
  use.newer = kNone, use.older = newest_;
  (newest_ == kNone ? oldest_ : uses_[std::size_t(newest_)].newer) = slot;
  newest_ = slot;
}

}  // namespace atl
