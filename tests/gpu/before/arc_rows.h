// Sums over the arcs of each row, which all aggregations are: some lanes of a warp do a row, with its columns, or a part of them, in
// registers. A row with very many arcs (a hub) is cut into pieces, which are listed, done by whichever groups are free, and put
// together in order. Whoever does them, a row's sum is that of its pieces, so results don't depend on what ran first.
#pragma once

#include <algorithm>
#include <utility>

#include "tensor/cuda/launch.h"

namespace atl::cuda::before {

inline constexpr Index kHubArcs = 512;    // more of them are summed in pieces …
inline constexpr Index kPieceArcs = 256;  // … of so many
inline constexpr int kArcThreads =
    64;  // a block is busy until its longest row is done: short of rows, it seldom waits
/// With fewer sources a row has too few arcs to be worth a list.
inline constexpr Index kFewSources = 4096;

/// Rows × parts of work. Parts of a row follow each other (heads, which read neighbouring memory), or the rows of a part do (slices of
/// columns, of which one at a time shall stay in the cache).
struct ArcShape {
  Index rows, parts;
  bool parts_together;
  int log;        // of the lanes of a group
  Index sources;  // columns of the adjacency

  Index items() const { return rows * parts; }
  int lanes() const { return 1 << log; }
};

/// A row's part.
struct Place {
  Index row, part;
};

/// That of an item; 32 bits are divided in a tenth of the time of 64.
__device__ inline Place place_of(const ArcShape& shape, Index item) {
  if (shape.parts == 1) return {item, 0};
  const Index by = shape.parts_together ? shape.parts : shape.rows;
  const bool small = (item | by) >> 31 == 0;
  const Index quotient = small ? Index(unsigned(item) / unsigned(by)) : item / by;
  const Index rest = item - quotient * by;
  return shape.parts_together ? Place{quotient, rest} : Place{rest, quotient};
}

/// A hub's piece; item −1 where the list was too short for all of an item's.
struct Piece {
  Index item, number;
};
/// Pieces of hubs and their sums. capacity 0: there is no list.
template <class Sum>
struct Hubs {
  int* count;
  Piece* pieces;  // (capacity), an item's one after the other
  Sum* sums;      // (capacity, lanes)
  int capacity;

  __device__ int listed() const { return *count < capacity ? *count : capacity; }

  /// By all lanes of a group: whether others will do the item.
  __device__ bool take(Index item, int pieces_of_item, const Lanes& lanes) const {
    if (capacity == 0) return false;
    int place = 0;
    if (lanes.lane == 0) {
      place = atomicAdd(count, pieces_of_item);
      const bool fits = place + pieces_of_item <= capacity;
      for (int i = 0; i < pieces_of_item && place + i < capacity; ++i)
        pieces[place + i] = {fits ? item : -1, i};
    }
    return lanes.from(0, place) + pieces_of_item <= capacity;
  }
};

/// Op has: struct Sum; Index first_of(row), the row's first arc, where that of the one before ends; Sum begin(); void add(Sum&, Place,
/// Index first, Index behind, Lanes) over some of its arcs; void merge(Sum&, const Sum& later); void finish(Sum&, Place, Lanes).
template <class Op>
__global__ void over_arcs(Op op, ArcShape shape, Hubs<typename Op::Sum> hubs) {
  const Lanes lanes(shape.log);
  const Index item = (Index(blockIdx.x) * blockDim.x + threadIdx.x) >> shape.log;
  if (item >= shape.rows * shape.parts) return;
  const Place place = place_of(shape, item);
  const Index first = op.first_of(place.row), behind = op.first_of(place.row + 1);
  typename Op::Sum sum = op.begin();
  if (behind - first <= kHubArcs) {
    op.add(sum, place, first, behind, lanes);
  } else {
    const int pieces = int((behind - first + kPieceArcs - 1) / kPieceArcs);
    if (hubs.take(item, pieces, lanes)) return;
    for (int i = 0; i < pieces; ++i) {
      const Index from = first + i * kPieceArcs, to = from + kPieceArcs < behind ? from + kPieceArcs : behind;
      typename Op::Sum piece = op.begin();
      op.add(piece, place, from, to, lanes);
      if (i == 0) sum = piece;
      if (i > 0) op.merge(sum, piece);
    }
  }
  op.finish(sum, place, lanes);
}

/// The listed pieces' sums.
template <class Op>
__global__ void over_pieces(Op op, ArcShape shape, Hubs<typename Op::Sum> hubs) {
  const Lanes lanes(shape.log);
  const int groups = int(gridDim.x * blockDim.x) >> shape.log, listed = hubs.listed();
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x) >> shape.log; i < listed; i += groups) {
    const Piece piece = hubs.pieces[i];
    if (piece.item < 0) continue;
    const Place place = place_of(shape, piece.item);
    const Index behind = op.first_of(place.row + 1),
                from = op.first_of(place.row) + piece.number * kPieceArcs;
    typename Op::Sum sum = op.begin();
    op.add(sum, place, from, from + kPieceArcs < behind ? from + kPieceArcs : behind, lanes);
    hubs.sums[i * lanes.count + lanes.lane] = sum;
  }
}

/// The hubs' sums from those of their pieces.
template <class Op>
__global__ void over_hubs(Op op, ArcShape shape, Hubs<typename Op::Sum> hubs) {
  const Lanes lanes(shape.log);
  const int groups = int(gridDim.x * blockDim.x) >> shape.log, listed = hubs.listed();
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x) >> shape.log; i < listed; i += groups) {
    const Piece first = hubs.pieces[i];
    if (first.item < 0 || first.number > 0) continue;
    const Place place = place_of(shape, first.item);
    const Index arcs = op.first_of(place.row + 1) - op.first_of(place.row);
    typename Op::Sum sum = hubs.sums[i * lanes.count + lanes.lane];
    for (int other = 1; other * kPieceArcs < arcs; ++other)
      op.merge(sum, hubs.sums[(i + other) * lanes.count + lanes.lane]);
    op.finish(sum, place, lanes);
  }
}

template <class Sum>
Hubs<Sum> hubs_in(Context& ctx, const ArcShape& shape) {
  constexpr Index kBytes = Index(32) << 20, kMost = 1 << 16;
  if (shape.sources <= kFewSources) return {};
  const Index of_piece = Index(sizeof(Sum)) * shape.lanes();
  const Index capacity = std::min(kMost, kBytes / of_piece);
  const Index bytes = 64 + capacity * Index(sizeof(Piece)) + capacity * of_piece;
  auto* const room = reinterpret_cast<std::byte*>(
      ctx.workspace->matrix("arcs.hubs", 1, bytes / Index(sizeof(Real)) + 1).data);
  auto* const pieces = room + 64;
  auto* const sums = pieces + capacity * Index(sizeof(Piece));
  return {reinterpret_cast<int*>(room), reinterpret_cast<Piece*>(pieces), reinterpret_cast<Sum*>(sums),
          int(capacity)};
}

template <class Op>
void for_arcs(Context& ctx, const Op& op, const ArcShape& shape) {
  const auto hubs = hubs_in<typename Op::Sum>(ctx, shape);
  if (hubs.capacity > 0) ATOLL_MUST(cudaMemsetAsync(hubs.count, 0, sizeof(int), stream_of(ctx).stream()));
  launch(ctx, blocks_for(shape.items(), kArcThreads >> shape.log), kArcThreads, 0, &over_arcs<Op>, op, shape,
         hubs);
  if (hubs.capacity == 0 || shape.items() == 0) return;
  constexpr Index kBlocks = 2112;  // about as many as a large GPU has at once
  launch(ctx, kBlocks, kArcThreads, 0, &over_pieces<Op>, op, shape, hubs);
  launch(ctx, kBlocks / 4, kArcThreads, 0, &over_hubs<Op>, op, shape, hubs);
}

}  // namespace atl::cuda::before
