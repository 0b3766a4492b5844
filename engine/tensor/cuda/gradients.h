// Attention's backward pass. By source, over the transposed arcs, it computes z's gradient, the gradient of
// the source's score, and each arc's share of the destination score's gradient. It keeps as many of these
// shares as there is room for, and sums them by destination. For rows without kept shares, α and <z, d_out>
// are computed again.
#pragma once

#include "tensor/cuda/attend.h"
#include "tensor/cuda/elements.h"

namespace atl::cuda {

/// The numbers of a destination's head that an arc needs, read at once.
enum Packed { kScore, kMax, kInverse, kDot, kPacked };

/// Fills a.packed (dst, 4 · heads).
inline void pack_destinations(Context& ctx, simd::Attend& a, Index rows) {
  static constexpr ScratchKey kDestinations;
  const MatrixView packed = ctx.workspace->matrix(kDestinations, rows, kPacked * a.heads);
  a.packed = plain_out(packed);
  for_elements(ctx, rows, a.heads, [a] __device__(Index row, Index head) {
    Real* const to = row_of(a.packed, row) + head * kPacked;
    to[kScore] = at(a.dst_score, row, head);
    const Real sum = at(a.sum, row, head);  // 0 where all arcs weigh 0, and the maximum is −∞
    to[kMax] = sum == 0 ? Real(0) : at(a.max, row, head);
    to[kInverse] = sum == 0 ? Real(0) : Real(1) / sum;
    to[kDot] = at(a.dot, row, head);
  });
}

/// Rows are sources and columns destinations (kBySource), or the reverse; z, d_out and d_z are stored as T.
/// The rows of kMost arcs are loaded together. kDropout: whether there is dropout, which takes registers.
/// kRoom as least_blocks().
template <int V, int C, class T, int kMost, bool kBySource, bool kDropout, int kRoom>
struct Gradients {
  simd::Attend a;
  HeadLanes layout;
  KeptArcs keep;  // gradients of arcs' scores, in forward order

  static constexpr int kBlocks = kRoom;
  struct Sum {
    Columns<V, kBySource ? C : 1> d_z;
    Real d_score;  // the same on all lanes of the head, or this lane's part
  };
  /// The numbers of a lane's own row.
  struct Own {
    Index row, head;
    Columns<V, C, T> values;  // z's by source, d_out's by destination; 0 after the last column
    Pack<4> packed;           // by destination
    Real score;               // by source
    VertexId id;              // of the row
    bool writes;              // one lane of each head
  };
  /// The numbers of an arc and its other end.
  struct Arc {
    Pack<4> packed;  // by source
    Real score;      // by destination
    Real weight;
  };

  __device__ Index first_of(Index row) const { return a.offsets[row]; }
  __device__ Sum begin() const {
    Sum sum;
    sum.d_z.clear();
    sum.d_score = 0;
    return sum;
  }

  __device__ const T* row_of_own(Index row, Index head) const {
    return (kBySource ? stored_row<T>(a.z, row) : stored_row<T>(a.d_out, row)) + head * a.width;
  }
  __device__ const T* row_of_other(Index row, Index head) const {
    return (kBySource ? stored_row<T>(a.d_out, row) : stored_row<T>(a.z, row)) + head * a.width;
  }

  __device__ Own own_of(Place place, const Lanes& lanes, const Ways& ways) const {
    Own own{};
    const Index head = layout.head(place, lanes);
    own.row = place.row, own.head = head < a.heads ? head : 0;
    own.values.load(row_of_own(own.row, own.head), a.width, layout.slice(place), ways);
    own.writes = head < a.heads && ways.lane == 0 && layout.slice(place) == 0;
    if (kBySource) own.score = at(a.src_score, own.row, own.head);
    if (!kBySource) own.packed = load_pack<4>(row_of(a.packed, own.row) + own.head * kPacked);
    if (kDropout) own.id = kBySource ? a.src_ids[own.row] : a.dst_ids[own.row];
    return own;
  }

  /// <z, d_out> of an arc's head, on all of the head's lanes.
  __device__ Real product_of(const Own& own, const Columns<V, C, T>& other, VertexId j, const Lanes& lanes,
                             const Ways& ways) const {
    Real mine = 0;
    if (C < kSliced<V> || layout.slices == 1) {
      mine = own.values.dot(other);
    } else {  // here the lane has only a slice of the product
      const T *const own_row = row_of_own(own.row, own.head), *const row = row_of_other(j, own.head);
      for (Index c = ways.lane; c < a.width; c += ways.columns)
        mine += load_pack<1>(own_row + c).real(0) * load_pack<1>(row + c).real(0);
    }
    return ways.sum_of_way(lanes, mine);
  }

  __device__ Real mask_of(const Own& own, VertexId j) const {
    if (!kDropout) return 1;
    const VertexId src = kBySource ? own.id : a.src_ids[j], dst = kBySource ? a.dst_ids[j] : own.id;
    return kept(a, row_key(a.mask.key, dst), src, own.head);
  }

  template <int kArcs>
  __device__ void add_some(Sum& sum, const Own& own, const VertexId* j, Index first, Place place,
                           const ArcsOfWay& arcs, const Lanes& lanes, const Ways& ways) const {
    Columns<V, C, T> values[kArcs];
    Arc arc[kArcs];
    Real product[kArcs];
#pragma unroll
    for (int n = 0; n < kArcs; ++n) {
      values[n].fetch(row_of_other(j[n], own.head), a.width, layout.slice(place), ways);
      if (kBySource) arc[n].packed = load_pack<4>(row_of(a.packed, j[n]) + own.head * kPacked);
      if (!kBySource) arc[n].score = at(a.src_score, j[n], own.head);
      arc[n].weight = a.weights != nullptr ? Real(a.weights[first + arcs.number(n)]) : Real(1);
    }
#pragma unroll
    for (int n = 0; n < kArcs; ++n) product[n] = product_of(own, values[n], j[n], lanes, ways);
#pragma unroll
    for (int n = 0; n < kArcs; ++n) {
      const Pack<4>& packed = kBySource ? arc[n].packed : own.packed;
      const Real score = (kBySource ? own.score : arc[n].score) + packed.at[kScore];
      const Real alpha =
          weighed(exp(leaky(score, a.slope) - packed.at[kMax]) * packed.at[kInverse], arc[n].weight);
      const Real mask = mask_of(own, j[n]);
      const Real d_score =
          alpha * (mask * product[n] - packed.at[kDot]) * (score < Real(0) ? a.slope : Real(1));
      if (!arcs.has(n)) continue;
      sum.d_score += d_score;
      if constexpr (kBySource) {
        sum.d_z.add(values[n], alpha * mask);
        if (own.writes && keep.arcs > 0) keep_of(first + arcs.number(n), own.head, d_score);
      }
    }
  }

  __device__ void keep_of(Index arc, Index head, Real d_score) const {
    const Index place = a.arc_of[arc];
    if (place < keep.arcs) keep.values[place * a.heads + head] = d_score;
  }

  __device__ void add(Sum& sum, Place place, Index first, Index stop, const Lanes& lanes) const {
    if (first == stop) return;
    const Ways ways(lanes, layout.head_log);
    if (!kBySource && first_of(place.row + 1) <= keep.arcs) {
      const Index head = layout.head(place, lanes);
      for (Index e = first + ways.lane; e < stop && head < a.heads; e += ways.columns)
        sum.d_score += keep.values[e * a.heads + head];
      return;
    }
    const Own own = own_of(place, lanes, ways);
    const ArcsOfWay all{0, 1, int(stop - first)};
    for_batches<kMost>(a.columns + first, all, [&](const VertexId* j, const ArcsOfWay& arcs, int) {
      add_some<kMost>(sum, own, j, first, place, arcs, lanes, ways);
    });
  }

  __device__ void merge(Sum& sum, const Sum& later) const {
    sum.d_score += later.d_score;
    sum.d_z.add(later.d_z, 1);
  }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Ways ways(lanes, layout.head_log);
    const Index head = layout.head(place, lanes), row = place.row;
    const bool parts = !kBySource && first_of(row + 1) <= keep.arcs;
    const Real d_score = parts ? ways.sum_of_way(lanes, sum.d_score) : sum.d_score;
    if (head >= a.heads) return;
    const bool writes_score = layout.slice(place) == 0 && ways.lane == 0;
    if constexpr (kBySource) {
      if (writes_score) at(a.d_src_score, row, head) = d_score;
      for (int k = 0; k < C; ++k) {
        const Index c = sum.d_z.column(layout.slice(place), ways, k);
        if (c >= a.width) continue;
        store_reals<V, std::is_same_v<T, Bfloat16>>(a.d_z, row, head * a.width + c, sum.d_z.at[k]);
      }
    } else if (writes_score) {
      at(a.d_dst_score, row, head) += d_score;
    }
  }
};

/// Runs both passes: by source, then by destination.
template <class T, bool kDropout>
void along_both(Context& ctx, const simd::Attend& s, const CsrView& transpose, const CsrView& arcs,
                const KeptArcs& keep) {
  const auto along = [&]<bool kBySource>(const CsrView& csr) {
    simd::Attend turned = s;
    turned.offsets = csr.offsets, turned.columns = csr.columns, turned.weights = csr.weights;
    const int pack = pack_of<T>(s.width, s.z, s.d_out, s.d_z);
    for_heads<T>(pack, csr, s.heads, s.width, [&]<int V, int C>(HeadLanes layout, const ArcShape& shape) {
      constexpr int kRoom = kManyColumns<V, C> ? 4 : 10;
      for_arcs(ctx, Gradients<V, C, T, 4, kBySource, kDropout, kRoom>{turned, layout, keep}, shape);
    });
  };
  along.template operator()<true>(transpose);
  along.template operator()<false>(arcs);
}
template <class T>
void way_back(Context& ctx, const simd::Attend& s, const CsrView& transpose, const CsrView& arcs,
              const KeptArcs& keep) {
  if (s.mask.threshold == 0) return along_both<T, false>(ctx, s, transpose, arcs, keep);
  along_both<T, true>(ctx, s, transpose, arcs, keep);
}
void way_back_of_halves(Context& ctx, const simd::Attend& s, const CsrView& transpose, const CsrView& arcs,
                        const KeptArcs& keep);  // attention_halves.cu

}  // namespace atl::cuda
