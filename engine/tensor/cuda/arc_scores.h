// Attention's first pass, over scores alone: each destination's maximum and sum of exponentials. Keeps the
// scores for the second pass.
#pragma once

#include <limits>

#include "tensor/cuda/attend.h"

namespace atl::cuda {

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

}  // namespace atl::cuda
