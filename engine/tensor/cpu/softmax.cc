// Operations on the running state of both softmaxes over neighbours (attention.cc, softmax_aggregate.cc). If
// a softmax's sources come in parts, each part's maximum, sum and weighted rows are enough to combine them,
// as in online softmax (Milakov & Gimelshein 2018, section 3.1).
#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

constexpr Real kNothingYet = -std::numeric_limits<Real>::infinity();

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
  cpu::fill(ctx, kNothingYet, s.state.max);
  cpu::fill(ctx, 0, s.state.sum);
  cpu::fill(ctx, 0, s.out);
}

void softmax_merge(Context& ctx, const Softmaxes& s, const Softmaxes& other) {
  const Index heads = s.state.sum.cols, width = heads == 0 ? 0 : s.out.cols / heads;
  for_rows(ctx, s.out.rows, s.out.cols, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row)
      for (Index head = 0; head < heads; ++head)
        merge_head(s.state.max.at(row, head), s.state.sum.at(row, head), s.out.row(row) + head * width,
                   other.state.max.at(row, head), other.state.sum.at(row, head),
                   other.out.row(row) + head * width, width);
  });
}

}  // namespace atl::cpu
