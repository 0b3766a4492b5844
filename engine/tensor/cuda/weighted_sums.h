// Attention's second pass: each destination's sum of its neighbours' rows. Maxima are known, so weights
// depend on the arcs' scores alone. No row waits for a maximum, and all rows of a batch are loaded at once.
#pragma once

#include "tensor/cuda/attend.h"

namespace atl::cuda {

/// out = out · shrink + Σ p · z over arcs to a row; z and out are stored as T. The rows of kMost arcs are
/// loaded together; kRoom as least_blocks().
template <int V, int C, class T, int kMost, int kRoom>
struct WeightedSums {
  simd::Attend a;
  HeadLanes layout;
  simd::In shrink;  // (dst, heads)
  KeptArcs keep;    // as left by ArcScores

  using Sum = Columns<V, C>;
  static constexpr int kBlocks = kRoom;
  static constexpr bool kHalves = std::is_same_v<T, Bfloat16>;
  /// The numbers of a lane's own row.
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

  __device__ Own own_of(Place place, Index stop, const Lanes& lanes) const {
    const Index head = layout.head(place, lanes);
    Own own{head < a.heads ? head : 0, 0, 0, 0, stop <= keep.arcs};
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
    Columns<V, C, T> z[kArcs];
    Real scores[kArcs], weights[kArcs];
#pragma unroll
    for (int n = 0; n < kArcs; ++n) {
      const Index e = first + arcs.number(n);
      z[n].fetch(stored_row<T>(a.z, j[n]) + own.head * a.width, a.width, layout.slice(place), ways);
      scores[n] =
          *(own.scores_kept ? keep.values + e * a.heads + own.head : row_of(a.src_score, j[n]) + own.head);
      weights[n] = a.weights != nullptr ? Real(a.weights[e]) : Real(1);
    }
#pragma unroll
    for (int n = 0; n < kArcs; ++n) weights[n] = weighed(weight_of(own, scores[n], j[n]), weights[n]);
#pragma unroll
    for (int n = 0; n < kArcs; ++n)
      if (arcs.has(n)) sum.add(z[n], weights[n]);
  }

  __device__ void add(Sum& sum, Place place, Index first, Index stop, const Lanes& lanes) const {
    constexpr int kFew = kMost < 4 ? kMost : 4;
    if (first == stop) return;
    const Ways ways(lanes, layout.head_log);
    const Own own = own_of(place, stop, lanes);
    const ArcsOfWay all{0, 1, int(stop - first)};
    for_batches<kMost>(a.columns + first, all, [&](const VertexId* j, const ArcsOfWay& arcs, int left) {
      if (left > kFew) add_some<kMost>(sum, place, own, j, first, arcs, ways);
      if (left <= kFew) add_some<kFew>(sum, place, own, j, first, arcs, ways);
    });
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
      const Index in_head = Sum::column(layout.slice(place), ways, k), c = head * a.width + in_head;
      if (in_head >= a.width) continue;
      Pack<V> pack = sum.at[k];
      if (factor != 0) {  // 0 in the first block, before which out is undefined
        const Pack<V> before = load_reals<V, kHalves>(a.out, row, c);
#pragma unroll
        for (int v = 0; v < V; ++v) pack.at[v] += before.at[v] * factor;
      }
      store_reals<V, kHalves>(a.out, row, c, pack);
    }
  }
};

/// Sums over `arcs`, with s.width columns of each head.
template <class T>
void weigh(Context& ctx, const simd::Attend& s, const CsrView& arcs, const simd::In& shrink,
           const KeptArcs& keep) {
  const int pack = pack_of<T>(s.width, s.z, s.out);
  for_heads<T>(pack, arcs, s.heads, s.width, [&]<int V, int C>(HeadLanes layout, const ArcShape& shape) {
    constexpr int kMost = C == 1 ? 8 : 4, kRoom = kManyColumns<V, C> ? 5 : C == 1 ? 8 : 10;
    for_arcs(ctx, WeightedSums<V, C, T, kMost, kRoom>{s, layout, shrink, keep}, shape);
  });
}
void weigh_halves(Context& ctx, const simd::Attend& s, const CsrView& arcs, const simd::In& shrink,
                  const KeptArcs& keep);  // attention_halves.cu

}  // namespace atl::cuda
