// Sums of other rows, each times a value, by groups of lanes: aggregations, and products with sparse
// features.
#pragma once

#include <algorithm>

#include "tensor/cuda/arc_rows.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/packs.h"
#include "tensor/kernels.h"

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

  /// Adds those arcs from arc `first` on that `arcs` selects. All their rows are loaded before the first is
  /// used.
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

// The width of the slices of columns that sums over neighbours gather at a time. With slices of 32, the rows
// of Reddit's 233 k sources stay in an H100's second-level cache: 256 columns over its 115 M arcs take 15.8
// ms there, and 29.1 ms with cuSPARSE (docs/benchmarks/gpu.md).

/// How many of `cols` columns a slice has. A slice takes one, two or four cache lines of each source row: the
/// most with which all sources' rows fit in the cache together. It takes four if even one line per row
/// doesn't fit, if rows share lines, or if sources are so many that most are read once.
inline Index slice_of(Context& ctx, const CsrView& csr, const simd::In& x, Index cols) {
  constexpr Index kLine = 128, kMostLines = 4;
  const Index element = x.halves != nullptr ? Index(sizeof(Bfloat16)) : Index(sizeof(Real));
  const void* const address = x.halves != nullptr ? static_cast<const void*>(x.halves) : x.data;
  const bool in_lines =
      x.stride * element % kLine == 0 && reinterpret_cast<std::uintptr_t>(address) % kLine == 0;
  const Index room = stream_of(ctx).cache_bytes() / 10 * 9;
  const auto fits = [&](Index columns) { return csr.cols * columns * element <= room; };
  const Index widest = std::min(cols, kMostLines * kLine / element);
  if (!in_lines || 4 * csr.rows < csr.cols || fits(widest)) return widest;
  for (Index columns = widest == cols ? kMostLines * kLine / element : widest; columns * element >= kLine;
       columns /= 2)
    if (columns < cols && fits(columns)) return columns;
  return widest;
}

/// Calls call.template operator()<V, C>(log): 2^log lanes with C packs of V columns each cover a slice of
/// `width` columns, or most of it.
template <int V, class F>
void with_slice(Index width, F&& call) {
  const auto with = [&]<int C>() { call.template operator()<V, C>(lanes_for(blocks_for(width, V * C))); };
  const Index packs = width / V;
  if (V == 1 && packs > kWarp) return with.template operator()<4>();
  if (V > 1 && packs > 8 && packs <= 16) return with.template operator()<2>();
  with.template operator()<1>();
}

/// Computes s over rows of `csr`, with x stored as T, in packs of V.
template <int V, class T, bool kMixed>
void sum_up(Context& ctx, const CsrView& csr, const simd::Spmm& s, Index cols) {
  constexpr bool kOften = !kMixed || std::is_same_v<T, Bfloat16>;  // else from Reals to halves, which is rare
  constexpr int kFewestLanes = 4;  // 2^4 lanes per group: rows that share a warp wait for the longest
  const bool any = s.weights != nullptr || s.arc_mask != simd::ArcMask::kNone;
  with_slice<V>(slice_of(ctx, csr, s.x, cols), [&]<int W, int C>(int columns) {
    const int log = columns < kFewestLanes ? kFewestLanes : columns;
    const ArcShape shape{csr.rows, blocks_for(cols, Index(W) * C << columns), false, log, csr.cols};
    constexpr Values kNone = kOften ? Values::kNone : Values::kAny,
                     kScale = kOften ? Values::kScale : Values::kAny;
    const auto run = [&]<Values kValues, int kRoom>() {
      constexpr int kMost = C == 1 ? 8 : 4;
      for_arcs(ctx, SumOfRows<W, C, kValues, kMost, kRoom, T, kMixed>{s, cols, columns}, shape);
    };
    constexpr int kRoomForAny = C > 2 ? 6 : 9, kRoom = !kOften ? kRoomForAny : (C > 2 ? 8 : 14);
    if (kOften && !any && s.col_scale == nullptr) return run.template operator()<kNone, kRoom>();
    if (kOften && !any) return run.template operator()<kScale, kRoom>();
    run.template operator()<Values::kAny, kRoomForAny>();
  });
}
/// The same if x, out or the finish's residual is in halves. In spmm_halves.cu.
void sum_up_halves(Context& ctx, const CsrView& csr, const simd::Spmm& s, Index cols);

}  // namespace atl::cuda
