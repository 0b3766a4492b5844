// Rows of a layer's input in whichever form they are stored: dense, or features kept packed as CSR or as bits.
#pragma once

#include "tensor/bit_matrix.h"
#include "tensor/csr_view.h"
#include "tensor/matrix.h"

namespace atl {

/// Sparse feature rows with values, and their transpose for the weight gradient.
struct SparseRows {
  CsrView csr;        // (rows × features), weights = values, never null
  CsrView transpose;  // (features × rows), weights = values
};

/// Feature rows of which each has one value beside 0, and their transpose.
struct BitRows {
  BitView bits;                  // (rows × features)
  BitView transpose;             // (features × rows)
  const Real* levels = nullptr;  // (rows): what a row's ones stand for
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
  /// Features that are multiplied as they are stored, never copied, aggregated or given a gradient.
  bool packed() const { return sparse != nullptr || bits != nullptr; }
  Index rows() const { return sparse ? sparse->csr.rows : bits ? bits->bits.rows : dense.rows; }
  Index cols() const { return sparse ? sparse->csr.cols : bits ? bits->bits.cols : dense.cols; }
};

}  // namespace atl
