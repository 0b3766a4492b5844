// GAT's score, softmax and weighted sum over one block of sources in one visit of each neighbour's row. The
// maximum over a row's arcs comes first: LeakyReLU is monotone, so it is the LeakyReLU of the largest source
// score, found in the small score matrix.
#include "tensor/cpu/simd/exp.h"
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/mask.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

inline Real leaky(Real x, Real slope) {
  return x < 0 ? x * slope : x;
}
inline Real exp_one(Real x) {
  return exp(splat(x))[0];
}

/// 0 where the arc's head is dropped, else 1 / (1 − rate).
inline Real arc_mask(const Attend& a, std::uint64_t dst_key, VertexId src_id, Index head) {
  const std::uint64_t key = mix64(dst_key ^ std::uint64_t(src_id));
  return draw(key, std::uint32_t(head)) < a.mask.threshold ? Real(0) : a.mask.scale;
}

void attend_head(const Attend& a, Index row, Index head) {
  const Index first = a.offsets[row], behind = a.offsets[row + 1];
  const Real own = a.dst_score.row(row)[head];
  Real &max_here = a.max.row(row)[head], &sum_here = a.sum.row(row)[head];
  Real top = a.src_score.row(a.columns[first])[head];
  for (Index e = first; e < behind; ++e) {
    const Real score = a.src_score.row(a.columns[e])[head];
    if (!(score <= top)) top = score;
  }
  top = leaky(own + top, a.slope);
  if (top < max_here) top = max_here;
  const Real shrink = exp_one(max_here - top);
  Real* out = a.out.row(row) + head * a.width;
  for (Index c = 0; c < a.width; ++c) out[c] *= shrink;
  const std::uint64_t key = a.mask.threshold == 0 ? 0 : row_key(a.mask.key, a.dst_ids[row]);
  Real sum = sum_here * shrink;
  for (Index e = first; e < behind; ++e) {
    const VertexId j = a.columns[e];
    Real p = exp_one(leaky(own + a.src_score.row(j)[head], a.slope) - top);
    if (a.weights != nullptr) p *= Real(a.weights[e]);
    sum += p;
    if (a.mask.threshold != 0) p *= arc_mask(a, key, a.src_ids[j], head);
    const Real* z = a.z.row(j) + head * a.width;
    for (Index c = 0; c < a.width; ++c) out[c] += p * z[c];
  }
  max_here = top;
  sum_here = sum;
}

}  // namespace

void attend(const Attend& a, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    if (a.offsets[row] == a.offsets[row + 1]) continue;
    for (Index head = 0; head < a.heads; ++head) attend_head(a, row, head);
  }
}

// Rows are sources here, `columns` destinations. What the destinations' scores receive is left in d_score,
// one number an arc and head, for the caller to sum by destination.
void attend_backward(const Attend& a, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    for (Index head = 0; head < a.heads; ++head) {
      const Real* z = a.z.row(row) + head * a.width;
      Real* d_z = a.d_z.row(row) + head * a.width;
      for (Index c = 0; c < a.width; ++c) d_z[c] = 0;
      Real d_own = 0;
      for (Index e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
        const VertexId i = a.columns[e];
        const Real* d_out = a.d_out.row(i) + head * a.width;
        const Real score = a.dst_score.row(i)[head] + a.src_score.row(row)[head];
        Real alpha = exp_one(leaky(score, a.slope) - a.max.row(i)[head]) / a.sum.row(i)[head];
        if (a.weights != nullptr) alpha *= Real(a.weights[e]);
        const Real kept = a.mask.threshold == 0
                              ? Real(1)
                              : arc_mask(a, row_key(a.mask.key, a.dst_ids[i]), a.src_ids[row], head);
        Real dot = 0;
        for (Index c = 0; c < a.width; ++c) {
          dot += z[c] * d_out[c];
          d_z[c] += alpha * kept * d_out[c];
        }
        Real d = alpha * (kept * dot - a.dot.row(i)[head]);
        if (score < 0) d *= a.slope;
        d_own += d;
        a.d_score[a.arc_of[e] * a.heads + head] = d;
      }
      a.d_src_score.row(row)[head] = d_own;
    }
  }
}

}  // namespace atl::simd::ATOLL_LEVEL
