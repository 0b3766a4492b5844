// What both softmaxes over neighbours (attention.cc, softmax_aggregate.cc) do with their running state. Of a softmax whose
// sources come in parts, each part's maximum, sum and weighted rows are enough to put the parts together, as in online softmax
// (Milakov & Gimelshein 2018, section 3.1).
#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/cpu/chunks.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

constexpr Real kNothingYet = -std::numeric_limits<Real>::infinity();

void check_shapes(const Softmaxes& s) {
  const SoftmaxState& state = s.state;
  const Index heads = state.sum.cols;
  ATOLL_CHECK(state.max.rows == s.out.rows && state.sum.rows == s.out.rows && state.max.cols == heads &&
                  (heads == 0 ? s.out.cols == 0 : s.out.cols % heads == 0),
              "max {} x {}, sum {} x {}, out {} x {}", state.max.rows, state.max.cols, state.sum.rows, heads,
              s.out.rows, s.out.cols);
}

void merge_head(Real& max, Real& sum, Real* out, Real other_max, Real other_sum, const Real* other,
                Index width) {
  const Real top = std::max(max, other_max);
  if (top == kNothingYet) return;
  const Real ours = std::exp(max - top), theirs = std::exp(other_max - top);
  max = top;
  sum = ours * sum + theirs * other_sum;
  for (Index c = 0; c < width; ++c) out[c] = ours * out[c] + theirs * other[c];
}

}  // namespace

void softmax_begin(Context& ctx, const Softmaxes& s) {
  check_shapes(s);
  fill(ctx, kNothingYet, s.state.max);
  fill(ctx, 0, s.state.sum);
  fill(ctx, 0, s.out);
}

void softmax_merge(Context& ctx, const Softmaxes& s, const Softmaxes& other) {
  check_shapes(s), check_shapes(other);
  const Index heads = s.state.sum.cols, width = heads == 0 ? 0 : s.out.cols / heads;
  ATOLL_CHECK(other.state.sum.cols == heads && other.out.rows == s.out.rows && other.out.cols == s.out.cols,
              "{} x {} of {} heads and {} x {} of {}", s.out.rows, s.out.cols, heads, other.out.rows,
              other.out.cols, other.state.sum.cols);
  for_rows(ctx, s.out.rows, s.out.cols, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row)
      for (Index head = 0; head < heads; ++head)
        merge_head(s.state.max.at(row, head), s.state.sum.at(row, head), s.out.row(row) + head * width,
                   other.state.max.at(row, head), other.state.sum.at(row, head),
                   other.out.row(row) + head * width, width);
  });
}

}  // namespace atl
