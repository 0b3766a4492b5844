// Softmax over neighbours, column by column. A running maximum and sum let blocks of sources follow each
// other. The backward pass goes over the transposed arcs.
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

/// Whether the arc counts. One of weight 0 doesn't: it raises no maximum, and its divisor may be 0.
bool counts(const SoftmaxSum& s, Index arc) {
  return s.weights == nullptr || s.weights[arc] != 0;
}

}  // namespace

// Visits each neighbour twice, the second time in cache: first for the new maximum, then for the
// exponentials.
void softmax_sum(const SoftmaxSum& s, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    const Index first = s.offsets[row], stop = s.offsets[row + 1];
    if (first == stop) continue;
    for_columns(0, s.cols, [&](Index c, int n) {
      const Vec old = load(s.max.row(row) + c, n);
      Vec top = old;
      for (Index e = first; e < stop; ++e)
        if (counts(s, e)) top = max(load(s.m.row(s.columns[e]) + c, n) * s.t, top);
      const Vec shrink = old == top ? splat(1) : exp(old - top);
      Vec sum = load(s.sum.row(row) + c, n) * shrink, out = load(s.out.row(row) + c, n) * shrink;
      for (Index e = first; e < stop; ++e) {
        if (!counts(s, e)) continue;
        const Vec m = load(s.m.row(s.columns[e]) + c, n);
        Vec p = exp(m * s.t - top);
        if (s.weights != nullptr) p *= Real(s.weights[e]);
        sum += p;
        out += p * m;
      }
      store(s.max.row(row) + c, top, n);
      store(s.sum.row(row) + c, sum, n);
      store(s.out.row(row) + c, out, n);
    });
  }
}

void softmax_sum_backward(const SoftmaxSum& s, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    for_columns(0, s.cols, [&](Index c, int n) {
      const Vec m = load(s.m.row(row) + c, n);
      Vec d{};
      for (Index e = s.offsets[row]; e < s.offsets[row + 1]; ++e) {
        if (!counts(s, e)) continue;
        const VertexId i = s.columns[e];
        Vec p = exp(m * s.t - load(s.max.row(i) + c, n)) / load(s.sum.row(i) + c, n);
        if (s.weights != nullptr) p *= Real(s.weights[e]);
        d += p * load(s.d_out.row(i) + c, n) * ((m - load(s.out.row(i) + c, n)) * s.t + Real(1));
      }
      // Lanes after a partial register divide by 0 and aren't stored.
      store(s.d_m.row(row) + c, d, n);
    });
  }
}

}  // namespace atl::simd::ATOLL_LEVEL
