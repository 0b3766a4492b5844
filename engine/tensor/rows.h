// Rows of a layer's input in any form of storage: dense, or features kept packed as CSR or as bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "tensor/matrix.h"

namespace atl {

// Matrices of zeros and ones with one bit per element, as many bag-of-words features are.

/// Column c of a row is bit c % 32 of word c / 32. Bits after the last column are 0.
struct BitView {
  Index rows = 0, cols = 0;
  const std::uint32_t* words = nullptr;  // (rows, row_words())

  static constexpr Index words_of(Index cols) { return (cols + 31) / 32; }
  Index row_words() const { return words_of(cols); }
  bool at(Index r, Index c) const { return (words[r * row_words() + c / 32] >> (c % 32) & 1) != 0; }
};

/// An owning bit matrix, initially zero.
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

/// Returns the transpose (cols × rows). Defined in matrix.cc.
BitMatrix transpose(const BitView& bits);

// Compressed sparse rows as kernels see them: arrays that are owned elsewhere.
// Row = destination, column = source, everywhere in Atoll.

/// Arcs of `rows` destinations to `cols` sources. Positions are 64-bit, ids 32-bit.
struct CsrView {
  Index rows = 0, cols = 0;
  const Index* offsets = nullptr;     // (rows + 1)
  const VertexId* columns = nullptr;  // (arcs)
  const float* weights = nullptr;     // (arcs), or null: every arc weighs 1 and no value is ever read

  Index arcs() const { return rows == 0 ? 0 : offsets[rows] - offsets[0]; }
  Index degree(Index row) const { return offsets[row + 1] - offsets[row]; }
  std::span<const VertexId> row(Index r) const { return {columns + offsets[r], std::size_t(degree(r))}; }
};

/// Sparse feature rows with values, and their transpose for the weight gradient.
struct SparseRows {
  CsrView csr;        // (rows × features), weights = values, never null
  CsrView transpose;  // (features × rows), weights = values
};

/// Feature rows with a single non-zero value each, and their transpose.
struct BitRows {
  BitView bits;                  // (rows × features)
  BitView transpose;             // (features × rows)
  const Real* levels = nullptr;  // (rows): the value of a row's ones
};

/// How features are stored.
enum class FeatureForm {
  kDense,
  kSparse,  // CSR: under 25 % are non-zero
  kBits,    // one bit per element: every row has a single non-zero value
};

/// (rows, cols) of layer input, in one of the forms.
struct Rows {
  ConstMatrixView dense;
  const SparseRows* sparse = nullptr;
  const BitRows* bits = nullptr;

  Rows() = default;
  Rows(ConstMatrixView d) : dense(d) {}     // NOLINT: implicit by intent
  Rows(MatrixView d) : dense(d) {}          // NOLINT: implicit by intent
  Rows(const SparseRows* s) : sparse(s) {}  // NOLINT: implicit by intent
  Rows(const BitRows* b) : bits(b) {}       // NOLINT: implicit by intent
  /// Whether features are packed. Packed ones are multiplied in their form, and never copied, aggregated or
  /// given a gradient.
  bool packed() const { return sparse != nullptr || bits != nullptr; }
  FeatureForm form() const {
    return sparse ? FeatureForm::kSparse : bits ? FeatureForm::kBits : FeatureForm::kDense;
  }
  Index rows() const { return sparse ? sparse->csr.rows : bits ? bits->bits.rows : dense.rows; }
  Index cols() const { return sparse ? sparse->csr.cols : bits ? bits->bits.cols : dense.cols; }
};

}  // namespace atl
