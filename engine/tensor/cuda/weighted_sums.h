// Attention's second pass: each destination's sum of its neighbours' rows, their weights being known but for the arc's score. No row waits
// for a maximum: all of a batch are on their way at once.
#pragma once

#include "tensor/cuda/attend.h"

namespace atl::cuda {

/// out = out · shrink + Σ p · z over arcs to a row. kMost arcs' rows are on their way together; kRoom as
/// least_blocks().
template <int V, int C, int kMost, int kRoom>
struct WeightedSums {
  simd::Attend a;
  HeadLanes layout;
  simd::In shrink;  // (dst, heads)
  KeptArcs keep;    // as ArcScores has left them

  using Sum = Columns<V, C>;
  static constexpr int kBlocks = kRoom;
  /// What a lane knows about its row.
  struct Own {
    Index head;
    Real score, max;
    std::uint64_t key;
    bool scores_kept;
  };

  __device__ Index first_of(Index row) const { return a.offsets[row]; }
  __device__ Sum begin() const {
    Sum sum;
    sum.clear();
    return sum;
  }

  __device__ Own own_of(Place place, Index behind, const Lanes& lanes) const {
    const Index head = layout.head(place, lanes);
    Own own{head < a.heads ? head : 0, 0, 0, 0, behind <= keep.arcs};
    own.max = at(a.max, place.row, own.head);
    if (own.scores_kept) return own;
    own.score = at(a.dst_score, place.row, own.head);
    if (a.mask.threshold != 0) own.key = row_key(a.mask.key, a.dst_ids[place.row]);
    return own;
  }

  __device__ Real weight_of(const Own& own, Real score, VertexId j) const {
    Real factor = a.mask.scale;
    if (!own.scores_kept) {
      score = leaky(score + own.score, a.slope);
      if (a.mask.threshold != 0) factor = kept(a, own.key, a.src_ids[j], own.head);
    }
    return exp(score - own.max) * factor;
  }

  template <int kArcs>
  __device__ void add_some(Sum& sum, Place place, const Own& own, const VertexId* j, Index first,
                           const ArcsOfWay& arcs, const Ways& ways) const {
    Sum z[kArcs];
    Real scores[kArcs], weights[kArcs];
#pragma unroll
    for (int n = 0; n < kArcs; ++n) {
      const Index e = first + arcs.number(n);
      z[n].fetch(row_of(a.z, j[n]) + own.head * a.width, a.width, layout.slice(place), ways);
      scores[n] =
          *(own.scores_kept ? keep.values + e * a.heads + own.head : row_of(a.src_score, j[n]) + own.head);
      weights[n] = a.weights != nullptr ? Real(a.weights[e]) : Real(1);
    }
#pragma unroll
    for (int n = 0; n < kArcs; ++n) weights[n] *= weight_of(own, scores[n], j[n]);
#pragma unroll
    for (int n = 0; n < kArcs; ++n)
      if (arcs.has(n)) sum.add(z[n], weights[n]);
  }

  __device__ void add(Sum& sum, Place place, Index first, Index behind, const Lanes& lanes) const {
    constexpr int kFew = kMost < 4 ? kMost : 4;
    if (first == behind) return;
    const Ways ways(lanes, layout.head_log);
    const Own own = own_of(place, behind, lanes);
    ArcsOfWay arcs{0, 1, int(behind - first)};
    VertexId j[kMost], next[kMost] = {};
    arcs.sources(a.columns + first, j);
    for (; arcs.count > arcs.at; arcs.at += kMost) {
      const ArcsOfWay later{arcs.at + kMost, 1, arcs.count};
      if (later.at < later.count) later.sources(a.columns + first, next);
      if (arcs.count - arcs.at > kFew) add_some<kMost>(sum, place, own, j, first, arcs, ways);
      if (arcs.count - arcs.at <= kFew) add_some<kFew>(sum, place, own, j, first, arcs, ways);
#pragma unroll
      for (int n = 0; n < kMost; ++n) j[n] = next[n];
    }
  }

  __device__ void merge(Sum& sum, const Sum& later) const {
    sum.add(later, 1);
  }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Ways ways(lanes, layout.head_log);
    const Index row = place.row, head = layout.head(place, lanes);
    if (head >= a.heads || first_of(row) == first_of(row + 1)) return;
    const Real factor = at(shrink, row, head);
#pragma unroll
    for (int k = 0; k < C; ++k) {
      const Index c = Sum::column(layout.slice(place), ways, k);
      if (c >= a.width) continue;
      Real* const to = row_of(a.out, row) + head * a.width + c;
      Pack<V> pack = sum.at[k];
      if (factor != 0) {  // 0: the first block, which has nothing to read
        const Pack<V> before = load_pack<V>(to);
#pragma unroll
        for (int v = 0; v < V; ++v) pack.at[v] += before.at[v] * factor;
      }
      store_pack<V>(to, pack);
    }
  }
};

}  // namespace atl::cuda
