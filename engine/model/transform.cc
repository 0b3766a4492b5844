#include "model/transform.h"

#include <algorithm>

namespace atl {
namespace {

constexpr Index kPieceElements = Index(1) << 18;  // a megabyte

}  // namespace

ConstMatrixView dropped_rows(Context& ctx, const Rows& rows, const Dropout& d, const ScratchKey& to) {
  ATOLL_CHECK(!rows.packed(), "packed rows are transformed, never copied");
  if (!d) return rows.dense;
  MatrixView copy = ctx.workspace->matrix(to, rows.rows(), rows.cols(), ctx.values);
  dropout(ctx, d, rows.dense, copy);
  return copy;
}

OwnRows::Due OwnRows::due(const Rows& rows, const Dropout& d) {
  // If no own rows were given, own_ has no columns. Its null address would match the rows of a rank without
  // vertices.
  const bool are_own = !rows.packed() && own_.cols() > 0 && rows.dense.address() == own_.dense.address() &&
                       rows.rows() == own_.rows();
  static constexpr ScratchKey kDropped;
  if (!d || !are_own) return {rows, d};
  if (dropped_.address() == nullptr) dropped_ = dropped_rows(ctx_, own_, d, kDropped);
  return {dropped_, {}};
}

void transform(Context& ctx, const Rows& rows, const Dropout& d, ConstMatrixView w, MatrixView out,
               const Epilogue& epilogue, bool accumulate) {
  static constexpr ScratchKey kDropped;
  if (rows.bits != nullptr) {
    ATOLL_CHECK(!d, "bits are read as dense rows where they are dropped out");
    bit_gemm(ctx, *rows.bits, w, out, accumulate, epilogue);
  } else if (rows.sparse != nullptr) {
    ATOLL_CHECK(!accumulate, "sparse transforms don't accumulate");
    sparse_gemm(ctx, *rows.sparse, d, w, out, epilogue);
  } else {
    gemm(ctx, dropped_rows(ctx, rows, d, kDropped), w, out, accumulate, epilogue);
  }
}

void weight_backward(Context& ctx, const Rows& rows, const Dropout& d, ConstMatrixView d_out, MatrixView d_w,
                     Index first) {
  if (rows.bits != nullptr) return bit_gemm_at(ctx, *rows.bits, d_out, d_w, true, first);
  if (rows.sparse != nullptr) return sparse_gemm_at(ctx, *rows.sparse, d, d_out, d_w, true, first);
  gemm_at(ctx, rows.dense, d, d_out, d_w, true, first);
}

void rows_backward(Context& ctx, const Dropout& d, ConstMatrixView w, ConstMatrixView d_out,
                   MatrixView d_rows, bool accumulate) {
  if (!accumulate || !d) return gemm_bt(ctx, d_out, w, d_rows, accumulate, d);
  const Index masked_rows = std::min(d.end, d_rows.rows), rest = d_rows.rows - masked_rows;
  // A few rows at a time, so that what is masked is still in the cache when it is added.
  const Index piece = std::max<Index>(1, kPieceElements / std::max<Index>(1, d_rows.cols));
  static constexpr ScratchKey kMasked;
  const MatrixView masked = ctx.workspace->matrix(kMasked, std::min(piece, masked_rows), d_rows.cols);
  for (Index begin = 0; begin < masked_rows; begin += piece) {
    const Index count = std::min(piece, masked_rows - begin);
    const MatrixView product = masked.slice_rows(0, count);
    gemm_bt(ctx, d_out.slice_rows(begin, count), w, product, false, d.of_rows(begin, count));
    axpby(ctx, 1, product, 1, d_rows.slice_rows(begin, count));
  }
  if (rest > 0)
    gemm_bt(ctx, d_out.slice_rows(masked_rows, rest), w, d_rows.slice_rows(masked_rows, rest), true);
}

void transform_backward(Context& ctx, const Rows& rows, const Dropout& d, ConstMatrixView w,
                        ConstMatrixView d_out, MatrixView d_w, MatrixView d_rows, bool accumulate_rows) {
  weight_backward(ctx, rows, d, d_out, d_w);
  if (rows.packed() || d_rows.cols == 0) return;  // packed features take no gradient
  rows_backward(ctx, d, w, d_out, d_rows, accumulate_rows);
}

ExchangedProducts::ExchangedProducts(Verbs& verbs, const Rows& rows, const Dropout& dropout,
                                     ConstMatrixView w)
    : ctx_(verbs.context()),
      rows_(rows.dense),
      w_(w),
      dropout_(dropout),
      boundary_(std::min(verbs.state().boundary, rows.rows())) {
  ATOLL_CHECK(!rows.packed(), "packed rows are features, which don't cross");
}

Dropout ExchangedProducts::dropout_of(Index begin, Index end) const {
  return dropout_.of_rows(begin, end - begin);
}

void ExchangedProducts::multiply(Index begin, Index end, MatrixView z) const {
  if (begin == end) return;
  transform(ctx_, rows_.slice_rows(begin, end - begin), dropout_of(begin, end), w_,
            z.slice_rows(begin, end - begin));
}

void ExchangedProducts::backward(Index begin, Index end, ConstMatrixView d_z, MatrixView d_w,
                                 MatrixView d_rows) const {
  if (begin == end) return;
  const Index count = end - begin;
  transform_backward(ctx_, rows_.slice_rows(begin, count), dropout_of(begin, end), w_,
                     d_z.slice_rows(begin, count), d_w, d_rows.slice_rows(begin, count));
}

}  // namespace atl
