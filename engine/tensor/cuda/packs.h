// The columns of a lane: C packs of V columns each. Adjacent lanes have adjacent packs, and a lane's next
// pack follows that of the last lane.
#pragma once

#include "tensor/cuda/stored.h"

namespace atl::cuda {

/// Divides a group's lanes into ways. Each way has all of the row's columns and goes over arcs of its own, so
/// that narrow rows keep all lanes busy.
struct Ways {
  int columns;    // lanes of a way
  int count;      // ways
  int way, lane;  // this lane's way, and its place in the way

  /// Ways of 2^log lanes each.
  __device__ Ways(const Lanes& lanes, int log)
      : columns(1 << log),
        count(lanes.count >> log),
        way(lanes.lane >> log),
        lane(lanes.lane & (columns - 1)) {}

  /// The sum over a way's lanes, on all of them.
  __device__ Real sum_of_way(const Lanes& lanes, Real value) const {
    for (int distance = columns / 2; distance > 0; distance /= 2)
      value += __shfl_xor_sync(lanes.mask, value, distance);
    return value;
  }
};

/// A lane's columns of a row, in its storage: sums, or what is added to them. Columns after the last stay 0
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
  /// Loads from a row of `width` columns; `slice` is the slice's number.
  __device__ void load(const T* row, Index width, Index slice, const Ways& ways) {
#pragma unroll
    for (int k = 0; k < C; ++k)
      if (const Index c = column(slice, ways, k); c < width) at[k] = load_pack<V>(row + c);
  }
  /// The same without a branch. Columns after the last hold the first column's values, which are never
  /// stored.
  __device__ void fetch(const T* row, Index width, Index slice, const Ways& ways) {
#pragma unroll
    for (int k = 0; k < C; ++k) {
      const Index c = column(slice, ways, k);
      at[k] = load_pack<V>(row + (c < width ? c : 0));
    }
  }
  /// Adds up the ways, with the result on all lanes.
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

/// The arcs of a row that a lane visits: number `at`, then each `step` further. After the last arc it repeats
/// that one, whose row is loaded already, so that reading it needs no branch.
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

/// Calls some(j, arcs, left) for kMost of a way's arcs at a time, with their sources j. `left` counts the
/// arcs of all ways from there on. While these arcs' rows are loaded, the next sources are too.
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

/// Calls call.template operator()<V, C>(log, slices). 2^log lanes of V · C columns each, `slices` times,
/// cover at least `width` columns.
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
