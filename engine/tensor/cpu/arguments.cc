#include "tensor/cpu/arguments.h"

namespace atl {

simd::Mask plain(const Dropout& dropout, Index rows) {
  if (!dropout) return {};
  ATOLL_CHECK(Index(dropout.ids.size()) == rows, "{} ids for {} rows", dropout.ids.size(), rows);
  ATOLL_CHECK(dropout.rate < 1, "dropout rate {}", dropout.rate);
  return {drop_threshold(dropout.rate), Real(1 / (1 - dropout.rate)), dropout.draws.key(), dropout.ids.data(),
          std::uint32_t(dropout.first_column)};
}

simd::Finish plain(const Epilogue& e, Index rows, Index cols) {
  using Norm = Epilogue::Norm;
  ATOLL_CHECK(e.norm != Norm::kBatch || (e.col_mean != nullptr && e.col_rstd != nullptr),
              "batch norm's statistics");
  ATOLL_CHECK(e.residual.empty() || (e.residual.rows == rows && e.residual.cols == cols),
              "residual {} x {} of {} x {}", e.residual.rows, e.residual.cols, rows, cols);
  ATOLL_CHECK(e.row_stats.empty() || (e.row_stats.rows == rows && e.row_stats.cols == 2), "row_stats {} x {}",
              e.row_stats.rows, e.row_stats.cols);
  simd::Finish f;
  f.bias = e.bias;
  if (e.norm != Norm::kNone) f.gain = e.gain, f.shift = e.shift;
  if (e.norm == Norm::kBatch) f.col_mean = e.col_mean, f.col_rstd = e.col_rstd;
  f.layer_norm = e.norm == Norm::kLayer;
  f.batch_norm = e.norm == Norm::kBatch;
  f.row_stats = plain_out(e.row_stats);
  f.residual = plain(e.residual);
  f.residual_scale = e.residual_scale;
  f.activation = int(e.activation);
  f.mask = plain(e.dropout, rows);
  f.nothing = f.bias == nullptr && e.norm == Norm::kNone && !f.residual &&
              e.activation == Activation::kNone && f.mask.threshold == 0;
  return f;
}

}  // namespace atl
