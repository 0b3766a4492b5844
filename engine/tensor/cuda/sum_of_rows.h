// What a group of lanes does in sums of other rows, each times a value: aggregations, and products with
// sparse features.
#pragma once

#include "tensor/cuda/arc_rows.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/packs.h"

namespace atl::cuda {

/// The factors of arcs: none, a number per source, or everything that Spmm allows.
enum class Values { kNone, kScale, kAny };

/// out[i, c] (+)= row_scale[i] Σ_e value(e) · x[columns[e], c], then the finish, for the columns of a slice.
/// kMost rows of a way are loaded together; kRoom as least_blocks(). x is stored as T; kMixed: out or the
/// residual may be in halves.
template <int V, int C, Values kValues, int kMost, int kRoom, class T = Real, bool kMixed = false>
struct SumOfRows {
  simd::Spmm s;
  Index cols;
  int columns_log;  // log₂ of the lanes that have a row's columns

  using Sum = Columns<V, C>;
  static constexpr int kBlocks = kRoom;

  __device__ Index first_of(Index row) const { return s.offsets[row]; }
  __device__ Sum begin() const {
    Sum sum;
    sum.clear();
    return sum;
  }

  __device__ Real after_dropout(Real value, VertexId j, Index row, std::uint64_t key) const {
    if (s.arc_mask == simd::ArcMask::kByRow) return masked(value, key, j, s.mask);
    if (s.arc_mask == simd::ArcMask::kByColumn)
      return masked(value, row_key(s.mask, j), s.first_row + row, s.mask);
    return value;
  }

  /// Adds the arcs that `arcs` selects of those from `first` on. All their rows are loaded before the first
  /// is used.
  template <int kArcs>
  __device__ void add_some(Sum& sum, Place place, const VertexId* j, Index first, const ArcsOfWay& arcs,
                           std::uint64_t key, const Ways& ways) const {
    Real scales[kArcs], weights[kArcs];
    Columns<V, C, T> x[kArcs];
#pragma unroll
    for (int a = 0; a < kArcs; ++a) {
      scales[a] = weights[a] = 1;
      x[a].fetch(stored_row<T>(s.x, j[a]), cols, place.part, ways);
      if (kValues == Values::kScale) scales[a] = s.col_scale[j[a]];
      if (kValues != Values::kAny) continue;
      if (s.col_scale != nullptr) scales[a] = s.col_scale[j[a]];
      if (s.weights != nullptr) weights[a] = Real(s.weights[first + arcs.number(a)]);
    }
#pragma unroll
    for (int a = 0; a < kArcs; ++a) {
      if (!arcs.has(a)) continue;
      if constexpr (kValues == Values::kAny) {
        const Real value = after_dropout(weights[a] * scales[a], j[a], place.row, key);
        if (value != 0) sum.add(x[a], value);  // a dropped source may be infinite
      } else {
        sum.add(x[a], scales[a]);
      }
    }
  }

  __device__ void add(Sum& sum, Place place, Index first, Index stop, const Lanes& lanes) const {
    constexpr int kFew = kMost < 4 ? kMost : 4;
    if (first == stop) return;
    const Ways ways(lanes, columns_log);
    const std::uint64_t key = s.arc_mask == simd::ArcMask::kByRow ? row_key(s.mask, place.row) : 0;
    const ArcsOfWay mine{ways.way, ways.count, int(stop - first)};
    for_batches<kMost>(s.columns + first, mine, [&](const VertexId* j, const ArcsOfWay& arcs, int left) {
      if (left > kFew * ways.count) add_some<kMost>(sum, place, j, first, arcs, key, ways);
      if (left <= kFew * ways.count) add_some<kFew>(sum, place, j, first, arcs, key, ways);
    });
  }

  __device__ void merge(Sum& sum, const Sum& later) const {
    sum.add(later, 1);
  }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Ways ways(lanes, columns_log);
    sum.join(lanes, ways);
    if (ways.way > 0) return;
    const bool empty = first_of(place.row) == first_of(place.row + 1);  // its scale may be infinite
    if (s.row_scale != nullptr && !empty) sum.scale(s.row_scale[place.row]);
    const std::uint64_t key = row_key(s.finish.mask, place.row);
#pragma unroll
    for (int k = 0; k < C; ++k) {
      const Index c = Sum::column(place.part, ways, k);
      if (c >= cols) continue;
      Pack<V> pack = sum.at[k];
      const Pack<V> before = s.accumulate ? load_reals<V, kMixed>(s.out, place.row, c) : Pack<V>{};
#pragma unroll
      for (int v = 0; v < V; ++v) {
        pack.at[v] += before.at[v];
        if (!s.finish.nothing) pack.at[v] = finished<kMixed>(s.finish, pack.at[v], place.row, c + v, key);
      }
      store_reals<V, kMixed>(s.out, place.row, c, pack);
    }
  }
};

}  // namespace atl::cuda
