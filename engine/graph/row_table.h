// Numbers the few prepared rows that a batch reads or a server holds. The hash table grows with their number,
// not with the graph. It uses open addressing with linear probing, and is at most half full. A lookup reads
// one cache line, which callers prefetch some arcs ahead.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "base/reusable.h"
#include "base/types.h"

namespace atl {

class RowTable {
 public:
  /// Empties it. Its memory stays.
  void clear();

  void prefetch(VertexId row) const { __builtin_prefetch(&cells_[Index(place(row))], 1); }
  /// The row's number. A new row gets the number `next`.
  VertexId find_or_add(VertexId row, VertexId next) {
    for (std::uint32_t at = place(row);; at = (at + 1) & mask_) {
      Cell& cell = cells_[Index(at)];
      if (cell.row == row) return cell.number;
      if (cell.row != kNone) continue;
      cell = {row, next};
      if (++count_ * 2 > mask_) grow();
      return next;
    }
  }
  /// The row's number, or −1.
  VertexId find(VertexId row) const {
    for (std::uint32_t at = place(row); count_ > 0; at = (at + 1) & mask_) {
      const Cell& cell = cells_[Index(at)];
      if (cell.row == row) return cell.number;
      if (cell.row == kNone) break;
    }
    return kNone;
  }

  Index reallocations() const { return reallocations_; }

 private:
  static constexpr VertexId kNone = -1;
  static constexpr std::uint32_t kLeastCells = 1024;
  struct Cell {
    VertexId row, number;
  };
  /// Fibonacci hashing (Knuth, vol. 3, 6.4): the product's upper bits.
  std::uint32_t place(VertexId row) const { return (std::uint32_t(row) * 0x9e3779b1u) >> shift_; }
  void make(std::uint32_t cells);
  void grow();

  Reusable<Cell> cells_, old_;
  std::uint32_t mask_ = 0, count_ = 0;
  int shift_ = 31;
  Index reallocations_ = 0;
};

inline void RowTable::make(std::uint32_t cells) {
  mask_ = cells - 1;
  shift_ = 32 - std::bit_width(mask_);
  std::ranges::fill(cells_.take(Index(cells)), Cell{kNone, 0});
}

inline void RowTable::clear() {
  count_ = 0;
  make(std::max(mask_ + 1, kLeastCells));
}

inline void RowTable::grow() {
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
