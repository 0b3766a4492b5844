// Operations on the rows of dense matrices: the epilogue alone, dropout, sums of columns, packing of rows.
#include <algorithm>
#include <cmath>

#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

constexpr ScratchKey kValueSums;

/// sums (values) += Σ over rows, in double precision; `add` adds a range of rows to the array it is given.
/// Ranges are summed separately, and their sums added in order.
template <class F>
void sum_in_chunks(Context& ctx, RowChunks chunks, Index values, double* sums, F&& add) {
  double* partial = zeroed_sums(ctx, kValueSums, chunks.count() * values).data();
  run_chunks(ctx, chunks.count(),
             [&](Index chunk) { add(partial + chunk * values, chunks.begin(chunk), chunks.end(chunk)); });
  for (Index chunk = 0; chunk < chunks.count(); ++chunk) {
    for (Index i = 0; i < values; ++i) sums[i] += partial[chunk * values + i];
  }
}

/// sums (2, m) += Σ w·x and Σ w·x² over some rows.
void weighted_sums(ConstMatrixView x, std::span<const Real> weights, double* sums, Index begin, Index end) {
  for (Index r = begin; r < end; ++r) {
    const double weight = weights[std::size_t(r)];
    for (Index c = 0; c < x.cols; ++c) {
      const double value = x.at(r, c);
      sums[c] += weight * value;
      sums[x.cols + c] += weight * value * value;
    }
  }
}

}  // namespace

void apply(Context& ctx, const Epilogue& epilogue, ConstMatrixView x, MatrixView y) {
  const simd::Finish finish = plain(epilogue);
  const bool in_place = x.address() == y.address();
  if (in_place && finish.nothing) return;
  for_rows(ctx, y.rows, y.cols, [&](Index begin, Index end) {  // copied rows stay in the cache
    if (!in_place) simd::loops().axpby(1, plain(x), 0, plain_out(y), y.cols, begin, end);
    if (!finish.nothing) simd::loops().finish(finish, plain_out(y), begin, end, 0, y.cols);
  });
}

void column_sums(Context& ctx, ConstMatrixView x, double* sums, std::span<const Real> weights) {
  sum_in_chunks(ctx, few_chunks_of_rows(x.rows, x.cols), 2 * x.cols, sums,
                [&](double* into, Index begin, Index end) {
                  if (weights.empty())
                    simd::loops().column_sums(plain(x), x.cols, into, true, begin, end);
                  else
                    weighted_sums(x, weights, into, begin, end);
                });
}

void sum_rows(Context& ctx, ConstMatrixView x, Real* out, bool accumulate) {
  static constexpr ScratchKey kTotal;
  double* sums = zeroed_sums(ctx, kTotal, x.cols).data();
  sum_in_chunks(ctx, few_chunks_of_rows(x.rows, x.cols), x.cols, sums,
                [&](double* into, Index begin, Index end) {
                  simd::loops().column_sums(plain(x), x.cols, into, false, begin, end);
                });
  for (Index c = 0; c < x.cols; ++c) out[c] = Real(sums[c]) + (accumulate ? out[c] : Real(0));
}

void column_sums_backward(Context& ctx, const Epilogue& epilogue, ConstMatrixView pre, ConstMatrixView y,
                          ConstMatrixView dy, double* sums) {
  simd::FinishBackward b;
  b.finish = plain(epilogue);
  b.pre = plain(pre);
  b.y = plain(y);
  b.dy = {const_cast<Real*>(dy.data), dy.stride, const_cast<Bfloat16*>(dy.halves)};  // only read
  b.cols = dy.cols;
  sum_in_chunks(ctx, few_chunks_of_rows(dy.rows, dy.cols), 2 * dy.cols, sums,
                [&](double* into, Index begin, Index end) { simd::loops().norm_sums(b, into, begin, end); });
}

void dropout(Context& ctx, const Dropout& d, ConstMatrixView x, MatrixView out) {
  if (!d && x.address() == out.address()) return;
  if (!d) return cpu::axpby(ctx, 1, x, 0, out);
  const simd::Mask mask = plain(d);
  for_rows(ctx, x.rows, x.cols, [&](Index begin, Index end) {
    simd::loops().dropout(mask, plain(x), plain_out(out), 0, x.cols, begin, end);
  });
}

void axpby(Context& ctx, Real a, ConstMatrixView x, Real b, MatrixView out) {
  for_rows(ctx, x.rows, x.cols, [&](Index begin, Index end) {
    simd::loops().axpby(a, plain(x), b, plain_out(out), x.cols, begin, end);
  });
}

void scale_rows(Context& ctx, const Real* factors, MatrixView x) {
  for_rows(ctx, x.rows, x.cols, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      for (Index c = 0; c < x.cols; ++c) x.at(r, c) *= factors[r];
  });
}

void scale(Context& ctx, Real factor, MatrixView x) {
  for_rows(ctx, x.rows, x.cols, [&](Index begin, Index end) {
    simd::loops().axpby(factor, plain(x), 0, plain_out(x), x.cols, begin, end);
  });
}

void gather_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out) {
  for_rows(ctx, out.rows, out.cols, [&](Index begin, Index end) {
    simd::loops().gather(plain(x), index, plain_out(out), out.cols, begin, end);
  });
}

void scatter_add_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out) {
  for_rows(ctx, x.rows, x.cols, [&](Index begin, Index end) {
    simd::loops().scatter_add(plain(x), index, plain_out(out), out.cols, begin, end);
  });
}

void scatter_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out) {
  for_rows(ctx, x.rows, x.cols, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      simd::loops().axpby(1, plain(x.slice_rows(i, 1)), 0, plain_out(out.slice_rows(index[i], 1)), x.cols, 0,
                          1);
  });
}

void count_non_finite(Context& ctx, ConstMatrixView x, double* count, const double* unless) {
  if (unless != nullptr && std::isfinite(*unless)) return;
  sum_in_chunks(ctx, few_chunks_of_rows(x.rows, x.cols), 1, count, [&](double* into, Index begin, Index end) {
    *into += double(simd::loops().count_non_finite(plain(x), x.cols, begin, end));
  });
}

}  // namespace atl::cpu
