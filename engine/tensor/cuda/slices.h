// The width of the slices of columns that sums over neighbours gather at a time. With slices of 32, the rows
// of Reddit's 233 k sources stay in an H100's second-level cache: 256 columns over its 115 M arcs take 15.8
// ms there, and 29.1 ms with cuSPARSE (docs/benchmarks/gpu.md).
#pragma once

#include <algorithm>

#include "tensor/cuda/sum_of_rows.h"
#include "tensor/kernels.h"

namespace atl::cuda {

/// Columns per slice, of `cols`: the most of one, two or four cache lines per row with which all sources'
/// rows fit in the cache. It is four lines if none fits, if rows share lines, or if there are so many more
/// sources than rows that they are seldom read twice.
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
  constexpr bool kOften = !kMixed || std::is_same_v<T, Bfloat16>;  // not from Reals to halves
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
