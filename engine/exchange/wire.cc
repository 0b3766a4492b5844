#include "exchange/wire.h"

#include "tensor/kernels.h"

namespace atl {
namespace {

View<Bfloat16> narrow_view(PackedRows rows) {
  return {reinterpret_cast<Bfloat16*>(rows.data), rows.rows, rows.row_bytes / Index(sizeof(Bfloat16))};
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
  ATOLL_CHECK(x.contiguous(), "rows of stride {} with {} columns", x.stride, x.cols);
  return {reinterpret_cast<std::byte*>(x.data), x.rows,
          x.cols * Index(narrow_ ? sizeof(Bfloat16) : sizeof(Real))};
}

PackedRows Wire::pack(MatrixView x) const {
  if (narrow_) narrow_in_place(*ctx_, x);
  return packed(x);
}

Index Wire::copied_columns(Index cols) const {
  constexpr Index kInOne = Index(sizeof(Real) / sizeof(Bfloat16));
  return narrow_ ? (cols + kInOne - 1) / kInOne : 0;
}

PackedRows Wire::pack_copy(ConstMatrixView x, const char* name) const {
  return pack_copy(x, narrow_ ? ctx_->workspace->matrix(name, x.rows, copied_columns(x.cols)) : MatrixView());
}

PackedRows Wire::pack_copy(ConstMatrixView x, MatrixView memory) const {
  if (!narrow_)
    return packed({const_cast<Real*>(x.data), x.rows, x.cols, x.stride});  // messages are read alone
  const PackedRows copy{reinterpret_cast<std::byte*>(memory.data), x.rows, x.cols * Index(sizeof(Bfloat16))};
  narrow_rows(*ctx_, x, narrow_view(copy));
  return copy;
}

void Wire::gather(ConstMatrixView x, const VertexId* index, PackedRows out) const {
  if (narrow_) return gather_rows_bfloat16(*ctx_, x, index, narrow_view(out));
  gather_rows(*ctx_, x, index, {reinterpret_cast<Real*>(out.data), out.rows, x.cols});
}

void Wire::unpack(MatrixView x) const {
  if (narrow_) widen_in_place(*ctx_, x);
}

}  // namespace atl
