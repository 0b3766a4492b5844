#include "exchange/cagnet_softmaxes.h"

namespace atl {
namespace {

/// Softmaxes side by side in one matrix, so that they cross as one: maxima, sums, what is weighed.
Softmaxes in(MatrixView packed, Index heads) {
  return {{packed.slice_cols(0, heads), packed.slice_cols(heads, heads)},
          packed.slice_cols(2 * heads, packed.cols - 2 * heads)};
}

/// Hands out columns from left to right.
class Columns {
 public:
  explicit Columns(MatrixView all) : all_(all) {}
  MatrixView next(Index count) { return all_.slice_cols((at_ += count) - count, count); }

 private:
  MatrixView all_;
  Index at_ = 0;
};

}  // namespace

CagnetSoftmaxes::OfRow CagnetSoftmaxes::begin(Traffic purpose, const SoftmaxGather& softmax) {
  const ConstMatrixView own = softmax.begin();
  MatrixView scores;
  if (own.cols > 0) {
    scores = ctx_.workspace->matrix("cagnet.scores", row_.vertices(), own.cols);
    axpby(ctx_, 1, own, 0, row_.own(scores));
    bring(purpose, scores);
  }
  const Index heads = softmax.own.state.max.cols, cols = 2 * heads + softmax.own.out.cols;
  const MatrixView packed = ctx_.workspace->matrix("cagnet.partial", row_.vertices(), cols);
  const OfRow row{scores, in(packed, heads), packed};
  softmax_begin(ctx_, row.softmaxes);
  return row;
}

void CagnetSoftmaxes::merge(Traffic purpose, const OfRow& row, const SoftmaxGather& softmax) {
  const Index heads = softmax.own.state.max.cols;
  row_.collect(purpose, wire_, row.packed).wait();
  for (const MatrixView& term : row_.terms(wire_)) softmax_merge(ctx_, softmax.own, in(term, heads));
}

SoftmaxGradient CagnetSoftmaxes::spread(const SoftmaxGradient& own) {
  const Index scores = own.scores.cols, heads = own.state.max.cols, width = own.d_out.cols;
  MatrixView whole = ctx_.workspace->matrix("cagnet.d_partial", row_.vertices(), scores + 3 * heads + width);
  Columns columns(whole), mine(row_.own(whole));
  for (const ConstMatrixView& each :
       {own.scores, ConstMatrixView(own.state.max), ConstMatrixView(own.state.sum), own.result, own.d_out})
    if (each.cols > 0) axpby(ctx_, 1, each, 0, mine.next(each.cols));
  bring(Traffic::kHaloGradient, whole);
  SoftmaxGradient row;
  row.scores = columns.next(scores);
  row.state.max = columns.next(heads);
  row.state.sum = columns.next(heads);
  row.result = columns.next(heads);
  row.d_out = columns.next(width);
  if (own.d_scores.cols > 0) {
    row.d_scores = ctx_.workspace->matrix("cagnet.d_scores", row_.vertices(), own.d_scores.cols);
    fill(ctx_, 0, row.d_scores);
  }
  return row;
}

void CagnetSoftmaxes::add_scores(const SoftmaxGradient& row, const SoftmaxGradient& own) {
  if (own.d_scores.cols == 0) return;
  row_.collect(Traffic::kHaloGradient, wire_, row.d_scores).wait();
  for (const MatrixView& term : row_.terms(wire_)) axpby(ctx_, 1, term, 1, own.d_scores);
}

void CagnetSoftmaxes::bring(Traffic purpose, MatrixView of_row) {
  row_.spread(purpose, wire_, of_row).wait();
  row_.unpack(wire_, of_row);
}

}  // namespace atl
