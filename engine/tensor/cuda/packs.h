// A lane's columns: packs of V, C times, the width of its group apart.
#pragma once

#include "tensor/cuda/stored.h"

namespace atl::cuda {

/// A group's lanes in ways: each way has the row's columns and goes over arcs of its own, so that narrow rows
/// keep all lanes busy.
struct Ways {
  int columns;    // lanes of a way
  int count;      // ways
  int way, lane;  // this lane's, and its place there

  /// Of 2^log lanes each.
  __device__ Ways(const Lanes& lanes, int log)
      : columns(1 << log),
        count(lanes.count >> log),
        way(lanes.lane >> log),
        lane(lanes.lane & (columns - 1)) {}

  /// Σ over a way's lanes, on all of them.
  __device__ Real sum_of_way(const Lanes& lanes, Real value) const {
    for (int distance = columns / 2; distance > 0; distance /= 2)
      value += __shfl_xor_sync(lanes.mask, value, distance);
    return value;
  }
};

/// A lane's columns of a row: sums, or what is added to them, as it is stored. Columns behind the last stay 0
/// and are never stored.
template <int V, int C, class T = Real>
struct Columns {
  Pack<V, T> at[C];

  __device__ void clear() {
#pragma unroll
    for (int k = 0; k < C; ++k)
#pragma unroll
      for (int v = 0; v < V; ++v) at[k].at[v] = 0;
  }
  __device__ void scale(Real factor) {
#pragma unroll
    for (int k = 0; k < C; ++k)
#pragma unroll
      for (int v = 0; v < V; ++v) at[k].at[v] *= factor;
  }
  template <class U>
  __device__ void add(const Columns<V, C, U>& other, Real factor) {
#pragma unroll
    for (int k = 0; k < C; ++k)
#pragma unroll
      for (int v = 0; v < V; ++v) at[k].at[v] += factor * other.at[k].real(v);
  }
  template <class U>
  __device__ Real dot(const Columns<V, C, U>& other) const {
    Real sum = 0;
#pragma unroll
    for (int k = 0; k < C; ++k)
#pragma unroll
      for (int v = 0; v < V; ++v) sum += at[k].real(v) * other.at[k].real(v);
    return sum;
  }
  /// From a row that is `width` wide; `slice` counts the columns of a group.
  __device__ void load(const T* row, Index width, Index slice, const Ways& ways) {
#pragma unroll
    for (int k = 0; k < C; ++k)
      if (const Index c = column(slice, ways, k); c < width) at[k] = load_pack<V>(row + c);
  }
  /// The same without a branch: columns behind the last hold the first's values, which nobody stores.
  __device__ void fetch(const T* row, Index width, Index slice, const Ways& ways) {
#pragma unroll
    for (int k = 0; k < C; ++k) {
      const Index c = column(slice, ways, k);
      at[k] = load_pack<V>(row + (c < width ? c : 0));
    }
  }
  /// Σ over the ways, on all lanes.
  __device__ void join(const Lanes& lanes, const Ways& ways) {
    for (int distance = ways.columns; distance < lanes.count; distance *= 2)
#pragma unroll
      for (int k = 0; k < C; ++k)
#pragma unroll
        for (int v = 0; v < V; ++v) at[k].at[v] += __shfl_xor_sync(lanes.mask, at[k].at[v], distance);
  }
  __device__ static Index column(Index slice, const Ways& ways, int k) {
    return (slice * C + k) * ways.columns * V + ways.lane * V;
  }
};

/// Which of a row's arcs a lane is at: number `at`, then each `step` further. Behind the last it is the last
/// once more, whose row is there already: reading it takes no branch.
struct ArcsOfWay {
  int at, step, count;

  __device__ bool has(int a) const { return at + a * step < count; }
  __device__ int number(int a) const { return has(a) ? at + a * step : count - 1; }
  template <int kArcs>
  __device__ void sources(const VertexId* of_row, VertexId (&j)[kArcs]) const {
#pragma unroll
    for (int a = 0; a < kArcs; ++a) j[a] = of_row[number(a)];
  }
};

/// some(j, arcs, left) for kMost of a way's arcs at a time, of which j are the sources, `left` being those of
/// all ways from there on: while their rows are on their way, the next ones' sources are.
template <int kMost, class F>
__device__ void for_batches(const VertexId* of_row, ArcsOfWay arcs, const F& some) {
  const int batch = kMost * arcs.step;
  VertexId j[kMost], next[kMost] = {};
  arcs.sources(of_row, j);
  for (int left = arcs.count; left > 0; left -= batch) {
    ArcsOfWay later = arcs;
    later.at += batch;
    if (left > batch) later.sources(of_row, next);
    some(j, arcs, left);
#pragma unroll
    for (int a = 0; a < kMost; ++a) j[a] = next[a];
    arcs = later;
  }
}

/// call.template operator()<V, C>(log, slices): V · C columns of 2^log lanes at a time, `slices` times, are
/// at least `width`.
template <class F>
void with_columns(bool fours, Index width, F&& call) {
  const auto with = [&]<int V, int C>() {
    const int log = lanes_for((width + V * C - 1) / (V * C));
    const Index at_once = Index(V) * C << log, slices = width == 0 ? 1 : (width + at_once - 1) / at_once;
    call.template operator()<V, C>(log, int(slices));
  };
  const Index packs = fours ? width / 4 : width;
  if (fours && packs <= 32) return with.template operator()<4, 1>();
  if (fours && packs <= 64) return with.template operator()<4, 2>();
  if (fours) return with.template operator()<4, 4>();
  if (packs <= 32) return with.template operator()<1, 1>();
  if (packs <= 64) return with.template operator()<1, 2>();
  if (packs <= 128) return with.template operator()<1, 4>();
  with.template operator()<1, 8>();
}

}  // namespace atl::cuda
