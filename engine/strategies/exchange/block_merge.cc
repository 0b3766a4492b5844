#include "strategies/exchange/block_merge.h"

namespace atl {

MatrixView CagnetMerge::summands(Index cols) {
  return ctx_.workspace->matrix("cagnet.partial", row_.vertices(), cols);
}

void CagnetMerge::begin_whole(MatrixView summands, Rounding rounding) {
  wire_ = wire_of(rounding);
  under_way_ = row_.collect(purpose_, wire_, summands);
}

void CagnetMerge::end_whole(FunctionRef<void(MatrixView)> add) {
  under_way_.wait();
  for (const MatrixView& term : row_.terms(wire_)) add(term);
}

void CagnetMerge::begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) {
  wire_ = wire_of(rounding);
  spread_ = ctx_.workspace->matrix("cagnet.d_partial", row_.vertices(), cols);
  write(row_.own(spread_));
  under_way_ = row_.spread(purpose_, wire_, spread_);
}

MatrixView CagnetMerge::end_spread() {
  under_way_.wait();
  row_.unpack(wire_, spread_);
  return spread_;
}

}  // namespace atl
