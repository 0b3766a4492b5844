#include "strategies/exchange/wire.h"

#include "tensor/kernels.h"

namespace atl {
namespace {

MatrixView in_halves(PackedRows rows) {
  return {reinterpret_cast<Bfloat16*>(rows.data), rows.rows, rows.row_bytes / Index(sizeof(Bfloat16))};
}

/// The rows of x where they lie. x must be contiguous.
PackedRows as_stored(ConstMatrixView x) {
  ATOLL_CHECK(x.contiguous(), "rows of stride {} with {} columns", x.stride, x.cols);
  return {static_cast<std::byte*>(const_cast<void*>(x.address())), x.rows, x.row_bytes()};
}

}  // namespace

Wire Wire::of(Traffic purpose) const {
  const bool trains = purpose == Traffic::kHalo || purpose == Traffic::kHaloGradient ||
                      purpose == Traffic::kRecompute || purpose == Traffic::kStage ||
                      purpose == Traffic::kStageGradient || purpose == Traffic::kPartial ||
                      purpose == Traffic::kPartialGradient;
  return trains ? *this : Wire(*ctx_, Precision::kFloat32);
}

PackedRows Wire::packed(MatrixView x) const {
  PackedRows rows = as_stored(x);
  if (narrow_) rows.row_bytes = x.cols * Index(sizeof(Bfloat16));
  return rows;
}

PackedRows Wire::pack(MatrixView x) const {
  if (narrow_ && x.halves == nullptr) narrow_in_place(*ctx_, x);
  return packed(x);
}

Index Wire::copied_columns(Index cols) const {
  constexpr Index kInOne = Index(sizeof(Real) / sizeof(Bfloat16));
  return narrow_ ? (cols + kInOne - 1) / kInOne : 0;
}

PackedRows Wire::pack_copy(ConstMatrixView x, const ScratchKey& to) const {
  if (!narrow_ && (x.halves != nullptr || !x.contiguous())) {
    const MatrixView whole = ctx_->workspace->matrix(to, x.rows, x.cols);
    axpby(*ctx_, 1, x, 0, whole);
    return as_stored(whole);
  }
  return pack_copy(x, narrow_ ? ctx_->workspace->matrix(to, x.rows, copied_columns(x.cols)) : MatrixView());
}

PackedRows Wire::pack_copy(ConstMatrixView x, MatrixView memory) const {
  ATOLL_CHECK(narrow_ || x.halves == nullptr, "{} x {} in halves, to be sent whole", x.rows, x.cols);
  if (!narrow_ || x.halves != nullptr) return as_stored(x);  // rows to be sent are only read
  const PackedRows copy{reinterpret_cast<std::byte*>(memory.data), x.rows, x.cols * Index(sizeof(Bfloat16))};
  axpby(*ctx_, 1, x, 0, in_halves(copy));
  return copy;
}

void Wire::gather(ConstMatrixView x, const VertexId* index, PackedRows out) const {
  if (narrow_) return gather_rows(*ctx_, x, index, in_halves(out));
  gather_rows(*ctx_, x, index, {reinterpret_cast<Real*>(out.data), out.rows, x.cols});
}

void Wire::unpack(MatrixView x) const {
  if (narrow_ && x.halves == nullptr) widen_in_place(*ctx_, x);
}

}  // namespace atl
