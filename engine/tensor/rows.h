// Rows of a layer's input in whichever form they are stored: dense, or sparse features.
#pragma once

#include "tensor/csr_view.h"
#include "tensor/matrix.h"

namespace atl {

/// Sparse feature rows with values, and their transpose for the weight gradient.
struct SparseRows {
  CsrView csr;        // (rows × features), weights = values, never null
  CsrView transpose;  // (features × rows), weights = values
};

/// (rows, cols) of layer input. Exactly one of the two is set; `dense` wins when both are.
struct Rows {
  ConstMatrixView dense;
  const SparseRows* sparse = nullptr;

  Rows() = default;
  Rows(ConstMatrixView d) : dense(d) {}     // NOLINT: implicit by intent
  Rows(MatrixView d) : dense(d) {}          // NOLINT: implicit by intent
  Rows(const SparseRows* s) : sparse(s) {}  // NOLINT: implicit by intent
  bool is_sparse() const { return sparse != nullptr; }
  Index rows() const { return is_sparse() ? sparse->csr.rows : dense.rows; }
  Index cols() const { return is_sparse() ? sparse->csr.cols : dense.cols; }
};

}  // namespace atl
