#include "model/softmax_over.h"

namespace atl {
namespace {

/// The parts of softmaxes that lie side by side in one matrix, so that one message carries them: maxima,
/// sums, weighted sums.
Softmaxes in(MatrixView packed, Index heads) {
  return {{packed.slice_cols(0, heads), packed.slice_cols(heads, heads)},
          packed.slice_cols(2 * heads, packed.cols - 2 * heads)};
}

/// Hands out columns from left to right.
class ColumnSlicer {
 public:
  explicit ColumnSlicer(MatrixView all) : all_(all) {}
  MatrixView next(Index count) { return all_.slice_cols((at_ += count) - count, count); }

 private:
  MatrixView all_;
  Index at_ = 0;
};

}  // namespace

ConstMatrixView scores_of_group(Context& ctx, RowGroup& group, ConstMatrixView own) {
  if (own.cols == 0) return {};
  begin_spread(ctx, group, own, Rounding::kNever);
  return group.end_spread();
}

GroupSoftmaxes::GroupSoftmaxes(Context& ctx, RowGroup& group, const Softmaxes& own)
    : packed(group.summands(2 * own.state.max.cols + own.out.cols)),
      softmaxes(in(packed, own.state.max.cols)) {
  softmax_begin(ctx, softmaxes);
}

void GroupSoftmaxes::merge_into(Context& ctx, RowGroup& group, const Softmaxes& own) const {
  group.begin_whole(packed, Rounding::kNever);
  group.end_whole([&](MatrixView term) { softmax_merge(ctx, own, in(term, own.state.max.cols)); });
}

SoftmaxGradient gradient_of_group(Context& ctx, RowGroup& group, const SoftmaxGradient& own) {
  const Index scores = own.scores.cols, heads = own.state.max.cols, width = own.d_out.cols;
  group.begin_spread(scores + 3 * heads + width, Rounding::kNever, [&](MatrixView to) {
    ColumnSlicer mine(to);
    for (const ConstMatrixView& each :
         {own.scores, ConstMatrixView(own.state.max), ConstMatrixView(own.state.sum), own.result, own.d_out})
      if (each.cols > 0) axpby(ctx, 1, each, 0, mine.next(each.cols));
  });
  ColumnSlicer columns(group.end_spread());
  SoftmaxGradient all;
  all.scores = columns.next(scores);
  all.state.max = columns.next(heads);
  all.state.sum = columns.next(heads);
  all.result = columns.next(heads);
  all.d_out = columns.next(width);
  if (own.d_scores.cols > 0) {
    all.d_scores = group.summands(own.d_scores.cols);
    fill(ctx, 0, all.d_scores);
  }
  return all;
}

void add_scores(Context& ctx, RowGroup& group, const SoftmaxGradient& of_group, const SoftmaxGradient& own) {
  if (own.d_scores.cols == 0) return;
  group.begin_whole(of_group.d_scores, Rounding::kNever);
  end_sum(ctx, group, own.d_scores, true);
}

}  // namespace atl
