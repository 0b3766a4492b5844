// What attention's kernels share: a group of lanes does one head of one row, or a slice of its columns. α is computed where it is
// needed, from scores per vertex: nothing is stored per arc.
#pragma once

#include "tensor/cpu/arguments.h"
#include "tensor/cuda/arc_rows.h"
#include "tensor/cuda/finish.h"
#include "tensor/kernels.h"

namespace atl::cuda {

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

/// A row's part in `slices` of V · C · lanes columns of each head.
template <int V, int C>
struct HeadSlices {
  int slices;  // of a head

  __device__ Index head(Place place) const { return place.part / slices; }
  __device__ bool first(Place place) const { return place.part % slices == 0; }
  /// Of the head's columns.
  __device__ Index column(Place place, const Lanes& lanes, int k) const {
    return (place.part % slices * C + k) * lanes.count * V + lanes.lane * V;
  }
};

template <int V, int C>
struct HeadColumns {
  Pack<V> at[C];

  __device__ void clear() {
    for (int k = 0; k < C; ++k)
      for (int v = 0; v < V; ++v) at[k].at[v] = 0;
  }
};

/// call.template operator()<V, C>(slices, shape) for `rows` rows of heads that are `width` wide.
template <class F>
void for_heads(bool fours, Index rows, Index heads, Index width, F&& call) {
  with_columns(fours, width, [&]<int V, int C>() {
    const int lanes = lanes_for((width + V * C - 1) / (V * C));
    const int slices = width == 0 ? 1 : int((width + V * C * lanes - 1) / (V * C * lanes));
    call.template operator()<V, C>(slices, ArcShape{rows, heads * slices, true, lanes});
  });
}

}  // namespace atl::cuda
