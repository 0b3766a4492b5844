#include "tensor/cpu/arguments.h"

namespace atl {

simd::Mask plain(const Dropout& dropout) {
  if (!dropout) return {};
  return {drop_threshold(dropout.rate), Real(1 / (1 - dropout.rate)), dropout.draws.key(), dropout.ids.data(),
          std::uint32_t(dropout.first_column)};
}

simd::Finish plain(const Epilogue& e) {
  using Norm = Epilogue::Norm;
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
  f.mask = plain(e.dropout);
  f.nothing = f.bias == nullptr && e.norm == Norm::kNone && !f.residual &&
              e.activation == Activation::kNone && f.mask.threshold == 0;
  return f;
}

}  // namespace atl
