#include "tensor/cpu/arguments.h"

namespace atl {

simd::Mask plain(const Dropout& dropout) {
  if (!dropout) return {};
  return {drop_threshold(dropout.rate),
          Real(1 / (1 - dropout.rate)),
          dropout.draws.key(),
          dropout.ids.data(),
          std::uint32_t(dropout.first_column),
          dropout.begin,
          dropout.end};
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

simd::Spmm sum_of_rows(const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
                       const Epilogue& epilogue) {
  simd::Spmm s;
  s.weights = a.csr.weights;
  s.row_scale = a.row_scale;
  s.col_scale = a.col_scale;
  s.x = plain(x);
  s.out = plain_out(out);
  s.accumulate = accumulate;
  s.finish = plain(epilogue);
  return s;
}

simd::Spmm sum_of_values(const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                         const Epilogue& epilogue) {
  simd::Spmm s;
  s.weights = x.csr.weights;
  s.mask = plain(dropout);
  if (dropout) s.arc_mask = simd::ArcMask::kByRow;
  s.x = plain(w);
  s.out = plain_out(out);
  s.finish = plain(epilogue);
  return s;
}

simd::Spmm sum_of_transpose(const SparseRows& x, const Dropout& dropout, ConstMatrixView b, MatrixView out,
                            bool accumulate, Index first) {
  simd::Spmm s;
  s.weights = x.transpose.weights;
  s.mask = plain(dropout);
  if (dropout) s.arc_mask = simd::ArcMask::kByColumn;
  s.first_row = first;
  s.x = plain(b);
  s.out = plain_out(out);
  s.accumulate = accumulate;
  return s;
}

CsrView transposed_rows(const SparseRows& x, Index first, Index rows) {
  CsrView t = x.transpose;
  t.offsets += first;
  t.rows = rows;
  return t;
}

simd::BitProduct product_of_bits(const BitRows& x, ConstMatrixView w, MatrixView out, bool accumulate,
                                 const Epilogue& epilogue) {
  return {.words = x.bits.words,
          .inner = w.rows,
          .cols = out.cols,
          .x = plain(w),
          .row_scale = x.levels,
          .out = plain_out(out),
          .accumulate = accumulate,
          .finish = plain(epilogue)};
}

simd::BitProduct product_of_transpose(const BitRows& x, ConstMatrixView b, MatrixView out, bool accumulate,
                                      Index first) {
  const BitView& t = x.transpose;
  return {.words = t.words + first * t.row_words(),
          .inner = b.rows,
          .cols = out.cols,
          .x = plain(b),
          .inner_scale = x.levels,
          .out = plain_out(out),
          .accumulate = accumulate};
}

simd::SoftmaxSum softmax_sum(const CsrView& csr, Real t, ConstMatrixView m, const SoftmaxState& state,
                             ConstMatrixView out) {
  simd::SoftmaxSum s;
  s.offsets = csr.offsets;
  s.columns = csr.columns;
  s.weights = csr.weights;
  s.t = t;
  s.cols = m.cols;
  s.m = plain(m);
  s.max = plain_out(state.max);
  s.sum = plain_out(state.sum);
  s.out = {const_cast<Real*>(out.data), out.stride, const_cast<Bfloat16*>(out.halves)};
  return s;
}

}  // namespace atl
