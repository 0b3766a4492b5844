#include "graph/row_table.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace atl {

constexpr std::uint32_t kLeastCells = 1024;

void RowTable::make(std::uint32_t cells) {
  mask_ = cells - 1;
  shift_ = 32 - std::bit_width(mask_);
  std::ranges::fill(cells_.take(Index(cells)), Cell{kNone, 0});
}

void RowTable::clear() {
  count_ = 0;
  make(std::max(mask_ + 1, kLeastCells));
}

void RowTable::grow() {
  ATOLL_CHECK(mask_ < std::uint32_t(1) << 31, "{} rows in a table", count_);
  std::swap(cells_, old_);
  make(2 * (mask_ + 1));
  ++reallocations_;
  for (const Cell& cell : old_.span()) {
    if (cell.row == kNone) continue;
    std::uint32_t at = place(cell.row);
    while (cells_[Index(at)].row != kNone) at = (at + 1) & mask_;
    cells_[Index(at)] = cell;
  }
}

}  // namespace atl
