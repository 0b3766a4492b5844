// Feature rows of other ranks that are kept, so that they needn't be fetched again: a fixed number of them, found by a hash table
// of that size. Whole rows as they arrived, so that a hit changes no bits.
#pragma once

#include <vector>

#include "tensor/matrix.h"

namespace atl {

class RowCache {
 public:
  /// Room for so many rows of `cols` values. replaces: a new row takes the place of the one that was used longest ago; otherwise
  /// rows are put until it is full, and stay.
  RowCache(Index rows, Index cols, bool replaces);

  /// Of a row, with what finds it.
  static Index row_bytes(Index cols);

  Index capacity() const { return rows_.rows(); }
  Index size() const { return size_; }
  bool replaces() const { return replaces_; }
  /// The row's values, valid until the next put(); null: it isn't there.
  const Real* find(VertexId row);
  /// Does nothing where there is no room, or where it is there already.
  void put(VertexId row, const Real* values);

 private:
  static constexpr VertexId kNone = -1;
  struct Cell {
    VertexId row = kNone, slot = kNone;
  };
  /// A slot's neighbours in the order of use.
  struct Use {
    VertexId row = kNone, newer = kNone, older = kNone;
  };
  std::size_t home(VertexId row) const;
  std::size_t cell_of(VertexId row) const;
  VertexId free_slot();
  void forget(VertexId row);
  void unlink(VertexId slot);
  void make_newest(VertexId slot);

  const bool replaces_;
  Matrix rows_;  // (capacity, cols)
  Index size_ = 0;
  std::vector<Cell> cells_;  // a power of two, at most half full
  std::vector<Use> uses_;    // (capacity)
  VertexId newest_ = kNone, oldest_ = kNone;
};

}  // namespace atl
