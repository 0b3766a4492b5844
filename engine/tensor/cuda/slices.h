// Columns that sums over neighbours gather from together. Of Reddit's 233 k sources an H100 takes 256 columns in 5.5 ms by slices of 32,
// whose rows stay in its second-level cache, and in 9.3 ms by slices of 128, whose rows don't.
#pragma once

#include <algorithm>

#include "tensor/cuda/launch.h"
#include "tensor/kernels.h"

namespace atl::cuda {

/// How many of `cols`: of one, two or four of the cache's lines per row the most with which all sources' rows fit into it. Where they
/// don't with any, or rows share lines, or sources are many beside rows and seldom read twice: four lines.
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

/// call.template operator()<V, C>(log): 2^log lanes with C packs of V columns each have a slice that is `width` wide, or the most of it.
template <int V, class F>
void with_slice(Index width, F&& call) {
  const auto with = [&]<int C>() { call.template operator()<V, C>(lanes_for(blocks_for(width, V * C))); };
  const Index packs = width / V;
  if (V == 1 && packs > kWarp) return with.template operator()<4>();
  if (V > 1 && packs > 8 && packs <= 16) return with.template operator()<2>();
  with.template operator()<1>();
}

}  // namespace atl::cuda
