// Operations on rows, their sums over columns, batch norm's statistics, and rounding: checks shapes, and
// calls the device's kernel.
#include "tensor/dispatch/dispatch.h"

namespace atl {

void apply(Context& ctx, const Epilogue& epilogue, ConstMatrixView x, MatrixView y) {
  check_same_shape(x, y);
  check(epilogue, y.rows, y.cols);
  if (y.empty()) return;
  add_work(ctx, [&] { return finishes(epilogue, y.rows, y.cols); });
  ATOLL_CALL(apply, ctx, epilogue, x, y);
}

void apply_backward(Context& ctx, const Epilogue& epilogue, ConstMatrixView pre, ConstMatrixView y,
                    MatrixView dy, const EpilogueGradient& gradient, std::span<const double> col_sums,
                    double count) {
  check_same_shape(y, dy);
  check(epilogue, dy.rows, dy.cols);
  if (dy.empty()) return;
  ATOLL_CHECK(epilogue.norm == Epilogue::Norm::kNone || (pre.rows == dy.rows && pre.cols == dy.cols),
              "pre {} x {}", pre.rows, pre.cols);
  ATOLL_CHECK(epilogue.norm != Epilogue::Norm::kBatch || (Index(col_sums.size()) == 2 * dy.cols && count > 0),
              "{} sums of batch norm over {} rows", col_sums.size(), count);
  add_work(ctx, [&] { return finishes(epilogue, dy.rows, dy.cols, true); });
  ATOLL_CALL(apply_backward, ctx, epilogue, pre, y, dy, gradient, col_sums, count);
}

void zero_sums(Context& ctx, std::span<double> sums) {
  ATOLL_CALL(zero_sums, ctx, sums);
}

std::span<double> zeroed_sums(Context& ctx, const ScratchKey& of, Index count) {
  const std::span<double> sums = ctx.workspace->doubles(of, count);
  zero_sums(ctx, sums);
  return sums;
}

void column_sums(Context& ctx, ConstMatrixView x, double* sums, std::span<const Real> weights) {
  ATOLL_CHECK(weights.empty() || Index(weights.size()) == x.rows, "{} weights, {} rows", weights.size(),
              x.rows);
  ATOLL_CALL(column_sums, ctx, x, sums, weights);
}

void column_sums_backward(Context& ctx, const Epilogue& epilogue, ConstMatrixView pre, ConstMatrixView y,
                          ConstMatrixView dy, double* sums) {
  ATOLL_CHECK(epilogue.norm == Epilogue::Norm::kBatch, "batch norm alone needs sums over rows");
  check(epilogue, dy.rows, dy.cols);
  ATOLL_CALL(column_sums_backward, ctx, epilogue, pre, y, dy, sums);
}

void sum_rows(Context& ctx, ConstMatrixView x, Real* out, bool accumulate) {
  constexpr double kOfARow = 8;
  add_work(ctx, [&] { return terms(x.rows, kOfARow); });
  ATOLL_CALL(sum_rows, ctx, x, out, accumulate);
}

void dropout(Context& ctx, const Dropout& d, ConstMatrixView x, MatrixView out) {
  check_same_shape(x, out);
  check(d, x.rows);
  if (x.empty()) return;
  add_work(ctx, [&] { return draws(d, x.rows, x.cols); });
  ATOLL_CALL(dropout, ctx, d, x, out);
}

void fill(Context& ctx, Real value, MatrixView out) {
  if (!out.empty()) ATOLL_CALL(fill, ctx, value, out);
}

void axpby(Context& ctx, Real a, ConstMatrixView x, Real b, MatrixView out) {
  check_same_shape(x, out);
  if (!out.empty()) ATOLL_CALL(axpby, ctx, a, x, b, out);
}

void scale(Context& ctx, Real factor, MatrixView x) {
  if (!x.empty()) ATOLL_CALL(scale, ctx, factor, x);
}

void scale_rows(Context& ctx, const Real* factors, MatrixView x) {
  if (!x.empty()) ATOLL_CALL(scale_rows, ctx, factors, x);
}

namespace {

/// The terms that it costs to copy or add one row by its number, beside its bytes.
constexpr double kOfANamedRow = 10;

}  // namespace

void gather_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out) {
  ATOLL_CHECK(x.cols == out.cols, "{} and {} columns", x.cols, out.cols);
  if (out.empty()) return;
  add_work(ctx, [&] {
    return gathers(out.rows, x.rows, x.row_bytes()) + terms(out.rows, kOfANamedRow) + streams(out);
  });
  ATOLL_CALL_UNCOUNTED(gather_rows, ctx, x, index, out);
}

void scatter_add_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out) {
  ATOLL_CHECK(x.cols == out.cols, "{} and {} columns", x.cols, out.cols);
  if (x.empty()) return;
  add_work(ctx, [&] {
    return gathers(x.rows, out.rows, x.row_bytes()) + terms(x.rows, kOfANamedRow) + streams(x);
  });
  ATOLL_CALL_UNCOUNTED(scatter_add_rows, ctx, x, index, out);
}

void scatter_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out) {
  ATOLL_CHECK(x.cols == out.cols, "{} and {} columns", x.cols, out.cols);
  if (x.empty()) return;
  add_work(ctx, [&] {
    return gathers(x.rows, out.rows, x.row_bytes()) + terms(x.rows, kOfANamedRow) + streams(x);
  });
  ATOLL_CALL_UNCOUNTED(scatter_rows, ctx, x, index, out);
}

void norm_statistics(Context& ctx, std::span<const double> sums, double count, MatrixView stats) {
  ATOLL_CHECK(Index(sums.size()) == 2 * stats.cols && stats.rows == 2 && count > 0,
              "{} sums over {} rows for statistics of {} x {}", sums.size(), count, stats.rows, stats.cols);
  ATOLL_CALL(norm_statistics, ctx, sums, count, stats);
}

void known_statistics(Context& ctx, const Real* mean, const Real* variance, MatrixView stats) {
  ATOLL_CHECK(stats.rows == 2, "statistics of {} x {}", stats.rows, stats.cols);
  ATOLL_CALL(known_statistics, ctx, mean, variance, stats);
}

void move_running_statistics(Context& ctx, std::span<const double> sums, double count, double share,
                             Real* mean, Real* variance) {
  ATOLL_CALL(move_running_statistics, ctx, sums, count, share, mean, variance);
}

void narrow_in_place(Context& ctx, MatrixView x) {
  ATOLL_CHECK(x.contiguous(), "rows of stride {} with {} columns", x.stride, x.cols);
  if (!x.empty()) ATOLL_CALL(narrow_in_place, ctx, x);
}

void widen_in_place(Context& ctx, MatrixView x) {
  ATOLL_CHECK(x.contiguous(), "rows of stride {} with {} columns", x.stride, x.cols);
  if (!x.empty()) ATOLL_CALL(widen_in_place, ctx, x);
}

}  // namespace atl
