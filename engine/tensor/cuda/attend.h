// Code shared by attention's kernels: how lanes are divided among heads, and where numbers per arc and head
// are kept (KeptArcs: only those of the first arcs; the rest is computed again).
#pragma once

#include "tensor/cpu/arguments.h"
#include "tensor/cuda/arc_rows.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/packs.h"
#include "tensor/kernels.h"

namespace atl::cuda {

simd::Attend plain(const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const SoftmaxState& state);  // attention.cu

__device__ inline Real leaky(Real x, Real slope) {
  return x < Real(0) ? x * slope : x;
}

/// An exponential times its arc's weight. An arc of weight 0 doesn't count: its exponential may be infinite
/// or NaN.
__device__ inline Real weighed(Real exponential, Real weight) {
  return weight == Real(0) ? Real(0) : exponential * weight;
}

/// Whether either all matrices are in halves, or none is. Layers store everything that attention reads and
/// writes in one way, except for partial sums of several ranks.
template <class... M>
bool stored_alike(const M&... matrices) {
  const bool any = any_halves(matrices...);
  return (... && (any == (matrices.halves != nullptr)));
}

/// The factor of α's dropout on the arc from vertex `src` to `dst`, 0 or 1 / (1 − rate), given the key of
/// dst's row.
__device__ inline Real kept(const simd::Attend& a, std::uint64_t dst_key, VertexId src, Index head) {
  const std::uint64_t key = mix64(dst_key ^ std::uint64_t(src));
  return Draws::bits(key, std::uint32_t(head)) >= a.mask.threshold ? a.mask.scale : Real(0);
}

/// How lanes are divided. Adjacent lanes have the columns of one head. A group of lanes does one part of a
/// row: some heads, or a slice of one head that is wider than a warp reads at once.
struct HeadLanes {
  int head_log, log;  // log₂ of a head's lanes, and of the group's
  int slices;         // per head

  __device__ Index head(Place place, const Lanes& lanes) const {
    if (slices > 1) return place.part / slices;
    return (place.part << (log - head_log)) + (lanes.lane >> head_log);
  }
  __device__ Index slice(Place place) const { return slices > 1 ? place.part % slices : 0; }
};

/// How many packs of V a lane must have for a head to be cut into slices. With fewer packs, a head is never
/// wider than its lanes read.
template <int V>
inline constexpr int kSliced = V == 1 ? 8 : 16 / V;
/// Whether a lane has so many columns that it needs more registers.
template <int V, int C>
inline constexpr bool kManyColumns = C > 2 || V* C > 8;

/// The lanes for heads of `packs` packs, of which a lane has C.
inline HeadLanes head_lanes(Index heads, Index packs, int C) {
  const int head_log = lanes_for(blocks_for(packs, C));
  return {head_log, std::min(5, head_log + lanes_for(heads)),
          packs == 0 ? 1 : int(blocks_for(packs, Index(C) << head_log))};
}
inline ArcShape shape_of(const HeadLanes& layout, const CsrView& csr, Index heads) {
  const Index parts = layout.slices > 1 ? heads * layout.slices
                                        : blocks_for(heads, Index(1) << (layout.log - layout.head_log));
  return {csr.rows, parts, true, layout.log, csr.cols};
}

/// The widest pack in which heads of `width` columns of all these matrices, stored as T, can be read.
template <class T, class... M>
int pack_of(Index width, const M&... matrices) {
  if (std::is_same_v<T, Bfloat16> && in_packs(8, width, matrices...)) return 8;
  return in_packs(4, width, matrices...) ? 4 : 1;
}

/// Calls call.template operator()<V, C>(layout, shape) for the rows of `csr` and heads that are `width` wide
/// and stored as T, in the packs of pack_of(). A lane has at least two packs, or one of halves, so that fewer
/// lanes compute what is needed once per arc and head.
template <class T, class F>
void for_heads(int pack, const CsrView& csr, Index heads, Index width, F&& call) {
  const Index packs = width / pack;
  const auto with = [&]<int V, int C>() {
    const HeadLanes layout = head_lanes(heads, packs, C);
    call.template operator()<V, C>(layout, shape_of(layout, csr, heads));
  };
  if constexpr (std::is_same_v<T, Bfloat16>) {
    if (pack == 8 && packs <= 32) return with.template operator()<8, 1>();
    if (pack == 8) return with.template operator()<8, 2>();
  }
  if (pack == 4 && packs <= 64) return with.template operator()<4, 2>();
  if (pack == 4) return with.template operator()<4, 4>();
  if (packs <= 64) return with.template operator()<1, 2>();
  if (packs <= 128) return with.template operator()<1, 4>();
  with.template operator()<1, 8>();
}

/// A number per arc and head, for the destinations' first arcs; the rest is computed when it is needed.
struct KeptArcs {
  Real* values;  // (arcs, heads)
  Index arcs;
};

/// Forward and backward get the same memory. It is enough for a mean degree of 32, within a limit of memory.
inline KeptArcs kept_arcs(Context& ctx, const CsrView& csr, Index heads) {
  static constexpr ScratchKey kArcs;
  constexpr Index kBytes = Index(128) << 20, kMeanDegree = 32;
  const Index most = kBytes / (Index(sizeof(Real)) * heads);
  const Index arcs = std::min(most, csr.rows * std::min(csr.cols, kMeanDegree));
  return {ctx.workspace->matrix(kArcs, 1, arcs * heads + 1).data, arcs};
}

}  // namespace atl::cuda
