#include "exchange/cagnet_sums.h"

namespace atl {

MatrixView CagnetSums::partial(Index cols) const {
  return ctx_.workspace->matrix("cagnet.partial", row_.vertices(), cols);
}

void CagnetSums::merge(Traffic purpose, MatrixView partial, const Sum& sum) {
  const Wire wire = wire_.of(purpose);
  Event arrival = row_.collect(purpose, wire, partial);
  sum.rows_travel();
  arrival.wait();
  bool begun = sum.begin != nullptr;
  for (const MatrixView& term : row_.terms(wire)) {
    axpby(ctx_, 1, term, begun ? 1 : 0, sum.target);
    begun = true;
  }
}

ConstMatrixView CagnetSums::spread(const SumGradient& sum) {
  MatrixView whole = ctx_.workspace->matrix("cagnet.d_partial", row_.vertices(), sum.d_target.cols);
  axpby(ctx_, 1, sum.d_target, 0, row_.own(whole));
  Event spread = row_.spread(Traffic::kHaloGradient, wire_, whole);
  sum.gradients_travel();
  spread.wait();
  row_.unpack(wire_, whole);
  return whole;
}

}  // namespace atl
