// What attention's kernels share: a group of lanes does one head of one row, or a slice of its columns. Lanes work out the arcs' α side
// by side, one each, and then go over the arcs' rows together: nothing is stored per arc.
#pragma once

#include "before/arc_rows.h"
#include "tensor/cpu/arguments.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/packs.h"
#include "tensor/kernels.h"

namespace atl::cuda::before {

simd::Attend plain(const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const SoftmaxState& state);  // attention.cu

__device__ inline Real leaky(Real x, Real slope) {
  return x < Real(0) ? x * slope : x;
}

/// The factor of α's dropout on the arc from vertex `src` to `dst`, given the key of dst's row: 0 or 1 / (1 − rate).
__device__ inline Real kept(const simd::Attend& a, std::uint64_t dst_key, VertexId src, Index head) {
  const std::uint64_t key = mix64(dst_key ^ std::uint64_t(src));
  return Draws::bits(key, std::uint32_t(head)) >= a.mask.threshold ? a.mask.scale : Real(0);
}

/// Which head and which of its columns a part is, and by how many lanes they are read.
struct HeadSlices {
  int slices;       // of a head
  int columns_log;  // of those lanes

  __device__ Index head(Place place) const { return slices == 1 ? place.part : place.part / slices; }
  __device__ Index slice(Place place) const { return slices == 1 ? 0 : place.part % slices; }
};

/// call.template operator()<V, C>(slices, shape) for the rows of `csr` and heads that are `width` wide.
template <class F>
void for_heads(bool fours, const CsrView& csr, Index heads, Index width, F&& call) {
  constexpr int kFewestLanes = 3;  // 2^3 of a group: as many arcs are looked up at a time
  with_columns(fours, width, [&]<int V, int C>(int columns, int slices) {
    const int log = columns < kFewestLanes ? kFewestLanes : columns;
    call.template operator()<V, C>(HeadSlices{slices, columns},
                                   ArcShape{csr.rows, heads * slices, true, log, csr.cols});
  });
}

}  // namespace atl::cuda::before
