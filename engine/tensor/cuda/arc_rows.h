// Sums over the arcs of each row, which all aggregations are: some lanes of a warp do a row, with its columns, or a part of them, in
// registers. A row with very many arcs (a hub) is done by the whole block, whose groups of lanes each take every n-th arc; their sums
// are put together in a fixed order, so that results don't depend on what ran first.
#pragma once

#include <utility>

#include "tensor/cuda/launch.h"

namespace atl::cuda {

inline constexpr Index kHubArcs = 512;  // from which on a row is the whole block's

/// V values next to each other, moved by one instruction where they are aligned to their size.
template <int V>
struct alignas(V * sizeof(Real) <= 16 ? V * sizeof(Real) : 16) Pack {
  Real at[V];
};
template <int V>
__device__ Pack<V> load_pack(const Real* from) {
  return *reinterpret_cast<const Pack<V>*>(from);
}
template <int V>
__device__ void store_pack(Real* to, const Pack<V>& pack) {
  *reinterpret_cast<Pack<V>*>(to) = pack;
}

/// Rows × parts of work. Parts of a row follow each other (heads, which read neighbouring memory), or the rows of a part do (slices of
/// columns, of which one at a time shall stay in the cache).
struct ArcShape {
  Index rows, parts;
  bool parts_together;
  int lanes;

  __device__ Index row(Index item) const { return parts_together ? item / parts : item % rows; }
  __device__ Index part(Index item) const { return parts_together ? item % parts : item / rows; }
};

/// What the lanes of a group do a row's part as.
struct Place {
  Index row, part;
};

/// Op has: struct Sum; kHub; Index first_of(row), the row's first arc, where that of the one before ends; Sum begin(Place, Lanes);
/// void add(Sum&, Place, Index first, Index behind, Index step, Lanes), over arcs first, first + step, …; void merge(Sum&, const Sum&
/// other); void finish(Sum&, Place, Lanes).
template <class Op>
__global__ void over_arcs(Op op, ArcShape shape) {
  const Lanes lanes(shape.lanes);
  const int groups = int(blockDim.x) / shape.lanes, group = int(threadIdx.x) / shape.lanes;
  const Index first_item = Index(blockIdx.x) * groups, items = shape.rows * shape.parts;
  const Index item = first_item + group;
  bool hub = false;
  if (item < items) {
    const Place place{shape.row(item), shape.part(item)};
    const Index first = op.first_of(place.row), behind = op.first_of(place.row + 1);
    hub = behind - first > Op::kHub;
    if (!hub) {
      typename Op::Sum sum = op.begin(place, lanes);
      op.add(sum, place, first, behind, 1, lanes);
      op.finish(sum, place, lanes);
    }
  }
  if (!__syncthreads_or(hub)) return;
  auto* const sums = shared_memory<typename Op::Sum>();  // (threads)
  for (int g = 0; g < groups && first_item + g < items; ++g) {
    const Place place{shape.row(first_item + g), shape.part(first_item + g)};
    const Index first = op.first_of(place.row), behind = op.first_of(place.row + 1);
    if (behind - first <= Op::kHub) continue;
    typename Op::Sum sum = op.begin(place, lanes);
    op.add(sum, place, first + group, behind, groups, lanes);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (group == 0) {
      for (int other = 1; other < groups; ++other) op.merge(sum, sums[other * shape.lanes + lanes.lane]);
      op.finish(sum, place, lanes);
    }
    __syncthreads();
  }
}

template <class Op>
void for_arcs(Context& ctx, const Op& op, const ArcShape& shape) {
  constexpr int kThreadsOfBlock = sizeof(typename Op::Sum) > 128 ? 128 : 256;
  static_assert(kThreadsOfBlock * sizeof(typename Op::Sum) <= 48 << 10);
  launch(ctx, blocks_for(shape.rows * shape.parts, kThreadsOfBlock / shape.lanes), kThreadsOfBlock,
         kThreadsOfBlock * sizeof(typename Op::Sum), &over_arcs<Op>, op, shape);
}

// How wide a lane's columns are: V next to each other, C times, a group's width apart.

/// Whether rows of all of these can be read by packs of four.
inline bool in_fours(Index cols, std::initializer_list<std::pair<const Real*, Index>> matrices) {
  bool good = cols % 4 == 0;
  for (const auto& [data, stride] : matrices)
    good = good && reinterpret_cast<std::uintptr_t>(data) % alignof(Pack<4>) == 0 && stride % 4 == 0;
  return good;
}

/// call.template operator()<V, C>() with C · V · lanes ≥ width where that can be, and the largest C where it can't.
template <class F>
void with_columns(bool fours, Index width, F&& call) {
  const Index wide = fours ? width / 4 : width;
  if (fours) {
    if (wide <= 32) return call.template operator()<4, 1>();
    if (wide <= 64) return call.template operator()<4, 2>();
    return call.template operator()<4, 4>();
  }
  if (wide <= 32) return call.template operator()<1, 1>();
  if (wide <= 64) return call.template operator()<1, 2>();
  if (wide <= 128) return call.template operator()<1, 4>();
  return call.template operator()<1, 8>();
}

}  // namespace atl::cuda
