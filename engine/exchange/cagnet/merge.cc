#include "exchange/cagnet/merge.h"

namespace atl {
namespace {

/// Softmaxes side by side in one matrix, so that they cross as one: maxima, sums, what is weighed.
Softmaxes in(MatrixView packed, Index heads) {
  return {{packed.slice_cols(0, heads), packed.slice_cols(heads, heads)},
          packed.slice_cols(2 * heads, packed.cols - 2 * heads)};
}

/// Hands out columns from left to right.
class FromLeft {
 public:
  explicit FromLeft(MatrixView all) : all_(all) {}
  MatrixView next(Index count) { return all_.slice_cols((at_ += count) - count, count); }

 private:
  MatrixView all_;
  Index at_ = 0;
};

}  // namespace

MatrixView CagnetMerge::sums(Index cols) {
  return ctx_.workspace->matrix("cagnet.partial", row_.vertices(), cols);
}

void CagnetMerge::begin_merge(MatrixView sums) {
  wire_ = sums_wire_.of(purpose_);
  under_way_ = row_.collect(purpose_, wire_, sums);
}

void CagnetMerge::end_merge(MatrixView own, bool accumulate) {
  under_way_.wait();
  for (const MatrixView& term : row_.terms(wire_)) {
    axpby(ctx_, 1, term, accumulate ? 1 : 0, own);
    accumulate = true;
  }
}

void CagnetMerge::begin_spread(ConstMatrixView d_own) {
  wire_ = sums_wire_;
  spread_ = ctx_.workspace->matrix("cagnet.d_partial", row_.vertices(), d_own.cols);
  axpby(ctx_, 1, d_own, 0, row_.own(spread_));
  under_way_ = row_.spread(Traffic::kHaloGradient, wire_, spread_);
}

ConstMatrixView CagnetMerge::end_spread() {
  under_way_.wait();
  row_.unpack(wire_, spread_);
  return spread_;
}

ConstMatrixView CagnetMerge::scores(ConstMatrixView own) {
  if (own.cols == 0) return {};
  const MatrixView scores = ctx_.workspace->matrix("cagnet.scores", row_.vertices(), own.cols);
  axpby(ctx_, 1, own, 0, row_.own(scores));
  bring(purpose_, scores);
  return scores;
}

Softmaxes CagnetMerge::softmaxes(const Softmaxes& own) {
  const Index heads = own.state.max.cols, cols = 2 * heads + own.out.cols;
  packed_ = ctx_.workspace->matrix("cagnet.partial", row_.vertices(), cols);
  const Softmaxes of_row = in(packed_, heads);
  softmax_begin(ctx_, of_row);
  return of_row;
}

void CagnetMerge::merge(const Softmaxes&, const Softmaxes& own) {
  row_.collect(purpose_, whole_, packed_).wait();
  for (const MatrixView& term : row_.terms(whole_)) softmax_merge(ctx_, own, in(term, own.state.max.cols));
}

SoftmaxGradient CagnetMerge::spread(const SoftmaxGradient& own) {
  const Index scores = own.scores.cols, heads = own.state.max.cols, width = own.d_out.cols;
  MatrixView whole = ctx_.workspace->matrix("cagnet.d_partial", row_.vertices(), scores + 3 * heads + width);
  FromLeft columns(whole), mine(row_.own(whole));
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

void CagnetMerge::add_scores(const SoftmaxGradient& of_group, const SoftmaxGradient& own) {
  if (own.d_scores.cols == 0) return;
  row_.collect(Traffic::kHaloGradient, whole_, of_group.d_scores).wait();
  for (const MatrixView& term : row_.terms(whole_)) axpby(ctx_, 1, term, 1, own.d_scores);
}

void CagnetMerge::bring(Traffic purpose, MatrixView of_row) {
  row_.spread(purpose, whole_, of_row).wait();
  row_.unpack(whole_, of_row);
}

}  // namespace atl
