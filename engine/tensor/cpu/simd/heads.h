// Cuts heads × width columns into tiles of at most kMost registers, so that a loop over arcs keeps a tile's
// sums in registers. A tile is several whole heads, or a piece of one wide head.
#pragma once

#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {

struct HeadTile {
  Index head;    // its first head
  Index column;  // its first column
  int part;      // lanes in the last register of each head
};

/// Loads a register of a tile; the last one of a head is partial if kPart.
template <int V, bool kPart>
inline Vec load_of_head(const Real* head, int v, int part) {
  return kPart && v == V - 1 ? load_part(head + v * kLanes, part) : load(head + v * kLanes);
}
template <int V, bool kPart>
inline void store_of_head(Real* head, int v, int part, Vec value) {
  if (kPart && v == V - 1) {
    store_part(head + v * kLanes, value, part);
  } else {
    store(head + v * kLanes, value);
  }
}

/// Calls f<G, V, kPart>(tile) for G heads of V registers each.
template <int G, int V, class F>
inline void call_tile(HeadTile tile, F& f) {
  if (tile.part == kLanes) {
    f.template operator()<G, V, false>(tile);
  } else {
    f.template operator()<G, V, true>(tile);
  }
}

/// Calls f for whole heads from `head` on, as many at a time as fit: G, then G / 2, …
template <int G, int V, class F>
inline void call_groups(Index head, Index heads, Index width, F& f) {
  const int part = int(width - (V - 1) * kLanes);
  for (; head + G <= heads; head += G) call_tile<G, V>({head, head * width, part}, f);
  if constexpr (G > 1) call_groups<G / 2, V>(head, heads, width, f);
}

/// Calls f for `count` columns of one head.
template <int V, class F>
inline void call_piece(Index head, Index column, Index count, F& f) {
  if (count > (V - 1) * kLanes || V == 1)
    return call_tile<1, V>({head, column, int(count - (V - 1) * kLanes)}, f);
  if constexpr (V > 1) call_piece<V - 1>(head, column, count, f);
}

template <int kMost, int V, class F>
inline void call_heads(Index heads, Index width, F& f) {
  if (width > (V - 1) * kLanes || V == 1) return call_groups<kMost / V, V>(0, heads, width, f);
  if constexpr (V > 1) call_heads<kMost, V - 1>(heads, width, f);
}

template <int kMost, class F>
inline void for_head_tiles(Index heads, Index width, F f) {
  constexpr Index kWide = kMost * kLanes;
  if (width <= kWide) return call_heads<kMost, kMost>(heads, width, f);
  for (Index head = 0; head < heads; ++head) {
    for (Index c = 0; c < width; c += kWide) {
      call_piece<kMost>(head, head * width + c, width - c < kWide ? width - c : kWide, f);
    }
  }
}

}  // namespace atl::simd::ATOLL_LEVEL
