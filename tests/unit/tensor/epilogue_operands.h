// Operands of an epilogue.
#pragma once

#include "tensor/fixtures.h"

namespace atl::test {

using Norm = Epilogue::Norm;

/// Operands of one epilogue, all of them present.
struct EpilogueOperands {
  Index rows, cols;
  Matrix y = random_matrix(21, rows, cols, -2, 2), residual = random_matrix(22, rows, cols);
  Matrix bias = random_matrix(23, 1, cols), gain = random_matrix(24, 1, cols),
         shift = random_matrix(25, 1, cols);
  Matrix col_mean = random_matrix(26, 1, cols), col_rstd = random_matrix(27, 1, cols, 0.5, 2), stats{rows, 2};
  std::vector<VertexId> ids = random_ids(28, rows);

  Epilogue epilogue(Norm norm, Activation activation, bool with_residual, double rate) {
    Epilogue e{.bias = bias.data(),
               .norm = norm,
               .gain = gain.data(),
               .shift = shift.data(),
               .col_mean = col_mean.data(),
               .col_rstd = col_rstd.data(),
               .activation = activation};
    if (norm == Norm::kLayer) e.row_stats = stats;
    if (with_residual) e.residual = residual.view(), e.residual_scale = Real(0.75);
    if (rate > 0) e.dropout = {rate, Draws(5, Purpose::kDropout, 3, 1), ids, 0, rows / 4, rows - rows / 6};
    return e;
  }
};

}  // namespace atl::test
