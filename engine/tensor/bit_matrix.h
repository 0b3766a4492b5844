// Matrices of zeros and ones, a bit an element: what many bag-of-words features are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace atl {

/// Bits of a row; column c is bit c % 32 of word c / 32. Bits behind the last column are 0.
struct BitView {
  Index rows = 0, cols = 0;
  const std::uint32_t* words = nullptr;  // (rows, row_words())

  static constexpr Index words_of(Index cols) { return (cols + 31) / 32; }
  Index row_words() const { return words_of(cols); }
  bool at(Index r, Index c) const { return (words[r * row_words() + c / 32] >> (c % 32) & 1) != 0; }
};

/// An owning one, of zeros at first.
class BitMatrix {
 public:
  BitMatrix() = default;
  BitMatrix(Index rows, Index cols)
      : rows_(rows), cols_(cols), words_(std::size_t(rows * BitView::words_of(cols))) {}

  BitView view() const { return {rows_, cols_, words_.data()}; }
  std::uint32_t* row(Index r) { return words_.data() + r * BitView::words_of(cols_); }
  void set(Index r, Index c) { row(r)[c / 32] |= std::uint32_t(1) << (c % 32); }

 private:
  Index rows_ = 0, cols_ = 0;
  std::vector<std::uint32_t> words_;
};

/// (cols × rows).
BitMatrix transpose(const BitView& bits);

}  // namespace atl
