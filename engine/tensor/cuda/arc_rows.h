// Sums over the arcs of each row, the base of all aggregations. A group of lanes of a warp does a row, with
// its columns, or a part of them, in registers. A row with very many arcs (a hub) is cut into pieces. These
// are listed first, done beside the other rows, and put together in order. The graph alone decides where rows
// are cut, so results don't depend on what ran first.
#pragma once

#include <algorithm>
#include <utility>

#include "tensor/cuda/launch.h"

namespace atl::cuda {

inline constexpr Index kPieceArcs =
    256;  // fewest arcs of a piece; a row with more than two pieces' arcs is cut
inline constexpr int kArcThreads =
    64;  // a block is busy until its longest row is done; with few rows it seldom waits
/// With at most this many sources a row has too few arcs to be worth a list.
inline constexpr Index kFewSources = 4096;

/// Work in items, one for each part of each row. Either the items of a row are adjacent (parts are heads,
/// which read neighbouring memory), or those of a part (parts are slices of columns, and one slice at a time
/// is to stay in the cache).
struct ArcShape {
  Index rows, parts;
  bool parts_together;
  int log;        // log₂ of a group's lanes
  Index sources;  // columns of the adjacency

  Index items() const { return rows * parts; }
  int lanes() const { return 1 << log; }
};

/// A part of a row.
struct Place {
  Index row, part;
};

/// Where item number `item` belongs. Dividing numbers of 32 bits takes a tenth of the time of 64 bits.
__device__ inline Place place_of(const ArcShape& shape, Index item) {
  if (shape.parts == 1) return {item, 0};
  const Index by = shape.parts_together ? shape.parts : shape.rows;
  const bool small = (item | by) >> 31 == 0;
  const Index quotient = small ? Index(unsigned(item) / unsigned(by)) : item / by;
  const Index rest = item - quotient * by;
  return shape.parts_together ? Place{quotient, rest} : Place{rest, quotient};
}

/// One piece of a hub.
struct Piece {
  int row, number;
};
/// The pieces of hubs and their sums. capacity_log −1: there is no list, and no row is cut.
template <class Sum>
struct Hubs {
  int* count;
  Piece* pieces;  // (2^capacity_log), a row's pieces adjacent
  Sum* sums;      // (2^capacity_log, parts, lanes)
  int capacity_log;

  bool any() const { return capacity_log >= 0; }

  /// Arcs per piece. Pieces are so large that the list has room for them, however arcs are divided among
  /// rows: `arcs` arcs make at most ¾ of 2^capacity_log pieces.
  __device__ Index piece_arcs(Index arcs) const {
    const Index least = (2 * arcs >> capacity_log) + 1;
    return least > kPieceArcs ? least : kPieceArcs;
  }
};

/// The arcs that a group of lanes adds up, and their row.
struct Span {
  Place place;
  Index first, stop;
};

/// Op has: struct Sum; Index first_of(row), the row's first arc, where the row before ends; Sum begin(); void
/// add(Sum&, Place, Index first, Index behind, Lanes) over some of its arcs; void merge(Sum&, const Sum&
/// later); void finish(Sum&, Place, Lanes).
template <class Op>
__device__ Index piece_arcs(const Op& op, const ArcShape& shape, const Hubs<typename Op::Sum>& hubs) {
  return hubs.piece_arcs(op.first_of(shape.rows) - op.first_of(0));
}

/// Lists the pieces of rows that are cut.
template <class Op>
__global__ void find_hubs(Op op, ArcShape shape, Hubs<typename Op::Sum> hubs) {
  const Index row = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= shape.rows) return;
  const Index arcs = op.first_of(row + 1) - op.first_of(row), piece = piece_arcs(op, shape, hubs);
  if (arcs <= 2 * piece) return;
  const int pieces = int((arcs + piece - 1) / piece), place = atomicAdd(hubs.count, pieces);
  for (int i = 0; i < pieces; ++i) hubs.pieces[place + i] = {int(row), i};
}

template <class Op>
__device__ Span piece_of(const Op& op, const ArcShape& shape, const Hubs<typename Op::Sum>& hubs, int item) {
  const int parts = int(shape.parts);
  const Piece piece = hubs.pieces[parts == 1 ? item : item / parts];
  const Index arcs = piece_arcs(op, shape, hubs), stop = op.first_of(piece.row + 1),
              from = op.first_of(piece.row) + piece.number * arcs;
  return {{piece.row, parts == 1 ? 0 : item % parts}, from, from + arcs < stop ? from + arcs : stop};
}

/// How many blocks of kArcThreads must fit on a multiprocessor; this limits the registers of a thread.
template <class Op>
constexpr int least_blocks() {
  if constexpr (requires { Op::kBlocks; }) return Op::kBlocks;
  return 1;
}

/// The first blocks do listed pieces; in the others each group does a part of a row.
template <class Op>
__global__ void __launch_bounds__(kArcThreads, least_blocks<Op>())
    over_arcs(Op op, ArcShape shape, Hubs<typename Op::Sum> hubs, int piece_blocks) {
  const Lanes lanes(shape.log);
  const bool of_pieces = int(blockIdx.x) < piece_blocks;
  const Index block = of_pieces ? Index(blockIdx.x) : Index(blockIdx.x) - piece_blocks;
  const int groups = piece_blocks * int(blockDim.x) >> shape.log;
  const Index items = of_pieces ? Index(*hubs.count) * shape.parts : shape.rows * shape.parts;
  for (Index item = (block * blockDim.x + threadIdx.x) >> shape.log; item < items; item += groups) {
    Span span;
    if (of_pieces) {
      span = piece_of(op, shape, hubs, int(item));
    } else {
      const Place place = place_of(shape, item);
      span = {place, op.first_of(place.row), op.first_of(place.row + 1)};
      const Index arcs = span.stop - span.first;
      if (hubs.capacity_log >= 0 && arcs > 2 * kPieceArcs && arcs > 2 * piece_arcs(op, shape, hubs)) return;
    }
    typename Op::Sum sum = op.begin();
    op.add(sum, span.place, span.first, span.stop, lanes);
    if (!of_pieces) return op.finish(sum, span.place, lanes);
    hubs.sums[item * lanes.count + lanes.lane] = sum;
  }
}

/// Adds up the hubs' sums from their pieces' sums.
template <class Op>
__global__ void over_hubs(Op op, ArcShape shape, Hubs<typename Op::Sum> hubs) {
  const Lanes lanes(shape.log);
  const int parts = int(shape.parts), items = *hubs.count * parts;
  const int groups = int(gridDim.x * blockDim.x) >> shape.log;
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x) >> shape.log; i < items; i += groups) {
    const Piece first = hubs.pieces[i / parts];
    if (first.number > 0) continue;
    const Place place{first.row, i % parts};
    const Index arcs = op.first_of(place.row + 1) - op.first_of(place.row),
                piece = piece_arcs(op, shape, hubs);
    typename Op::Sum sum = hubs.sums[i * lanes.count + lanes.lane];
    for (int other = 1; other * piece < arcs; ++other)
      op.merge(sum, hubs.sums[(i + other * parts) * lanes.count + lanes.lane]);
    op.finish(sum, place, lanes);
  }
}

inline constexpr ScratchKey kHubs;

template <class Sum>
Hubs<Sum> hubs_in(Context& ctx, const ArcShape& shape) {
  constexpr Index kBytes = Index(32) << 20;
  if (shape.sources <= kFewSources || shape.items() == 0) return {nullptr, nullptr, nullptr, -1};
  const Index of_piece = Index(sizeof(Sum)) * shape.lanes() * shape.parts;
  int log = 16;
  while (log > 6 && of_piece << log > kBytes) --log;
  const Index bytes = 64 + (Index(sizeof(Piece)) << log) + (of_piece << log);
  auto* const room =
      reinterpret_cast<std::byte*>(ctx.workspace->matrix(kHubs, 1, bytes / Index(sizeof(Real)) + 1).data);
  auto* const pieces = room + 64;
  auto* const sums = pieces + (Index(sizeof(Piece)) << log);
  return {reinterpret_cast<int*>(room), reinterpret_cast<Piece*>(pieces), reinterpret_cast<Sum*>(sums), log};
}

template <class Op>
void for_arcs(Context& ctx, const Op& op, const ArcShape& shape) {
  constexpr int kPieceBlocks = 1056;  // as many as a large GPU has room for beside other blocks
  const auto hubs = hubs_in<typename Op::Sum>(ctx, shape);
  const int piece_blocks = hubs.any() ? kPieceBlocks : 0;
  if (hubs.any()) {
    call_library(ctx, &clear_now, Cleared{hubs.count, sizeof(int)});
    launch(ctx, blocks_for(shape.rows, kThreads), kThreads, 0, &find_hubs<Op>, op, shape, hubs);
  }
  launch(ctx, blocks_for(shape.items(), kArcThreads >> shape.log) + piece_blocks, kArcThreads, 0,
         &over_arcs<Op>, op, shape, hubs, piece_blocks);
  if (hubs.any()) launch(ctx, kPieceBlocks / 4, kArcThreads, 0, &over_hubs<Op>, op, shape, hubs);
}

}  // namespace atl::cuda
