// Graph attention (Veličković et al. 2018), forward, in two passes: maxima and sums from scores alone, then
// the weighted sum, which reads each neighbour's row once.
#include <limits>

#include "tensor/cuda/attend.h"
#include "tensor/cuda/table.h"
#include "tensor/cuda/weighted_sums.h"
#include "tensor/dispatch/reals.h"

namespace atl::cuda {

// The first pass, over scores alone: each destination's maximum and sum of exponentials. It keeps the scores
// for the second pass.

/// The score of a dropped arc, and the maximum over no arcs.
inline constexpr Real kNothing = -std::numeric_limits<Real>::infinity();

/// Updates max and sum (dst, heads) with more arcs, and sets shrink (dst, heads), the factor for what was
/// added up before. A part is a head.
struct ArcScores {
  simd::Attend a;
  simd::Out shrink;
  KeptArcs keep;  // leaky scores; −∞ where dropout leaves nothing

  struct Sum {
    Real max, p;
  };

  __device__ Index first_of(Index row) const { return a.offsets[row]; }
  __device__ Sum begin() const { return {kNothing, 0}; }

  /// Adds more exponentials, whose sum is p · e^max. The sum with the larger maximum keeps its scale, so one
  /// of the two factors is e⁰. p is 0 without arcs, and for arcs of weight 0.
  __device__ static void include(Sum& sum, Real max, Real p) {
    if (max == kNothing || p == Real(0)) return;
    const bool grows = max > sum.max;
    const Real factor = exp(grows ? sum.max - max : max - sum.max);
    sum.p = grows ? sum.p * factor + p : sum.p + p * factor;
    if (grows) sum.max = max;
  }

  __device__ void add(Sum& sum, Place place, Index first, Index stop, const Lanes& lanes) const {
    constexpr int kArcs = 2;  // per lane at a time
    const Index head = place.part;
    const Real own = at(a.dst_score, place.row, head);
    const std::uint64_t key = a.mask.threshold == 0 ? 0 : row_key(a.mask.key, a.dst_ids[place.row]);
    for (Index e = first + lanes.lane; e < stop; e += kArcs * lanes.count) {
      VertexId j[kArcs];
      Real score[kArcs];
#pragma unroll
      for (int n = 0; n < kArcs; ++n)
        j[n] = e + n * lanes.count < stop ? a.columns[e + n * lanes.count] : a.columns[e];
#pragma unroll
      for (int n = 0; n < kArcs; ++n) score[n] = at(a.src_score, j[n], head);
#pragma unroll
      for (int n = 0; n < kArcs; ++n) {
        const Index arc = e + n * lanes.count;
        if (arc >= stop) continue;
        const Real s = leaky(score[n] + own, a.slope);
        include(sum, s, a.weights != nullptr ? Real(a.weights[arc]) : Real(1));
        const bool drops = a.mask.threshold != 0 && kept(a, key, a.src_ids[j[n]], head) == 0;
        if (arc < keep.arcs) keep.values[arc * a.heads + head] = drops ? kNothing : s;
      }
    }
  }

  __device__ void merge(Sum& sum, const Sum& later) const {
    include(sum, later.max, later.p);
  }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Index row = place.row, head = place.part;
    if (first_of(row) == first_of(row + 1)) return;
    const Real largest = lanes.max(sum.max);
    const Real p = lanes.sum(sum.p == Real(0) ? Real(0) : sum.p * exp(sum.max - largest));
    if (lanes.lane > 0) return;
    if (p == Real(0)) {  // all arcs weigh 0
      at(shrink, row, head) = 1;
      return;
    }
    const Real before = at(a.max, row, head), top = before > largest ? before : largest;
    const Real factor = exp(before - top);
    at(a.sum, row, head) = at(a.sum, row, head) * factor + p * exp(largest - top);
    at(a.max, row, head) = top;
    at(shrink, row, head) = factor;
  }
};

simd::Attend plain(const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const SoftmaxState& state) {
  simd::Attend s;
  s.heads = a.heads;
  s.width = z.cols / a.heads;
  s.slope = a.slope;
  if (a.dropout_rate > 0)
    s.mask = {drop_threshold(a.dropout_rate), Real(1 / (1 - a.dropout_rate)), a.draws.key(), nullptr};
  s.dst_ids = a.dst_ids.data();
  s.src_ids = a.src_ids.data();
  s.z = atl::plain(z);
  s.dst_score = atl::plain(dst_score);
  s.src_score = atl::plain(src_score);
  s.max = plain_out(state.max);
  s.sum = plain_out(state.sum);
  return s;
}

void attention_add(Context& ctx, const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const Softmaxes& softmaxes) {
  if (!stored_alike(z, softmaxes.out))
    return call_in_reals(&cuda::attention_add, ctx, a, z, dst_score, src_score, softmaxes);
  simd::Attend s = plain(a, z, dst_score, src_score, softmaxes.state);
  const CsrView& arcs = a.arcs.csr;
  s.offsets = arcs.offsets;
  s.columns = arcs.columns;
  s.weights = arcs.weights;
  s.out = plain_out(softmaxes.out);
  static constexpr ScratchKey kShrink;
  const MatrixView shrink = ctx.workspace->matrix(kShrink, arcs.rows, s.heads);
  const KeptArcs keep = kept_arcs(ctx, arcs, s.heads);
  constexpr int kLanesLog = 3;  // log₂ of the lanes of a row's head
  for_arcs(ctx, ArcScores{s, plain_out(shrink), keep},
           ArcShape{arcs.rows, s.heads, true, kLanesLog, arcs.cols});
  if (s.width == 0) return;
  if (z.halves != nullptr) return weigh_halves(ctx, s, arcs, atl::plain(shrink), keep);
  weigh<Real>(ctx, s, arcs, atl::plain(shrink), keep);
}

}  // namespace atl::cuda
