// The state of softmaxes over neighbours: initialises it, and merges two states.
#include "tensor/cuda/elements.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

constexpr Real kNothingYet = -std::numeric_limits<Real>::infinity();

/// Factors for out ← out · ours + other · theirs. The state is updated separately, because all columns of a
/// head read it.
__device__ void shares_of(const SoftmaxState& s, const SoftmaxState& other, Index row, Index head, Real& ours,
                          Real& theirs) {
  const Real a = at(s.max, row, head), b = at(other.max, row, head), top = a > b ? a : b;
  ours = top == kNothingYet ? Real(1) : exp(a - top);
  theirs = top == kNothingYet ? Real(0) : exp(b - top);
}

}  // namespace

void softmax_begin(Context& ctx, const Softmaxes& s) {
  cuda::fill(ctx, kNothingYet, s.state.max);
  cuda::fill(ctx, 0, s.state.sum);
  cuda::fill(ctx, 0, s.out);
}

void softmax_merge(Context& ctx, const Softmaxes& s, const Softmaxes& other) {
  const Index heads = s.state.sum.cols, width = heads == 0 ? 0 : s.out.cols / heads;
  for_elements(ctx, s.out.rows, s.out.cols, [=] __device__(Index row, Index c) {
    Real ours, theirs;
    shares_of(s.state, other.state, row, c / width, ours, theirs);
    put_at(s.out, row, c, ours * value_at(s.out, row, c) + theirs * value_at(other.out, row, c));
  });
  for_elements(ctx, s.out.rows, heads, [=] __device__(Index row, Index head) {
    Real ours, theirs;
    shares_of(s.state, other.state, row, head, ours, theirs);
    Real& sum = at(s.state.sum, row, head);
    Real& max = at(s.state.max, row, head);
    const Real other_max = at(other.state.max, row, head);
    sum = ours * sum + theirs * at(other.state.sum, row, head);
    max = max > other_max ? max : other_max;
  });
}

void attention_finish(Context& ctx, const Softmaxes& s) {
  const Index heads = s.state.sum.cols, width = heads == 0 ? 0 : s.out.cols / heads;
  for_rows(ctx, s.out.rows * heads, width, [=] __device__(Index item, const Lanes& lanes) {
    const Index row = item / heads, head = item % heads;
    const Real sum = at(s.state.sum, row, head), factor = sum == 0 ? Real(0) : Real(1) / sum;
    for (Index c = head * width + lanes.lane; c < (head + 1) * width; c += lanes.count)
      put_at(s.out, row, c, value_at(s.out, row, c) * factor);
  });
}

void softmax_finish(Context& ctx, const Softmaxes& s) {
  for_elements(ctx, s.out.rows, s.out.cols, [=] __device__(Index row, Index c) {
    const Real sum = at(s.state.sum, row, c);
    put_at(s.out, row, c, sum == 0 ? Real(0) : value_at(s.out, row, c) / sum);
  });
}

}  // namespace atl::cuda
