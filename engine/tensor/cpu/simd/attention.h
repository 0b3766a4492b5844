// Code shared by attention's forward and backward loops. Arcs are done in blocks. A block's numbers, one per
// arc and head, lie arc by arc in arrays that stay in the first-level cache, so that registers are full
// whatever the number of heads.
#pragma once

#include "tensor/cpu/simd/loops.h"
#include "tensor/cpu/simd/mask.h"
#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {

// Tiles of heads × width columns, of at most kMost registers, so that a loop over arcs keeps a tile's sums in
// registers. A tile is several whole heads, or a piece of one wide head.

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

// The numbers of a block of arcs.

inline constexpr Index kBlockNumbers = 1024;  // numbers of one kind in a block
inline constexpr Index kBlockArcs = 64;
inline constexpr Index kAttentionAhead = 12;  // arcs between prefetch and use

/// One number for each arc and padded head of a block.
struct Numbers {
  Real at[kBlockNumbers + kLanes];
};

/// One number per head, repeated to fill a period of Numbers (HeadLayout); element h is head h's.
struct PerHead {
  Real at[kMostHeads + kLanes];
};

/// How heads are laid out in Numbers. They are padded to a power of two within a register, or to whole
/// registers, so that lane i of any period belongs to head i % padded.
struct HeadLayout {
  Index heads, padded, period, arcs_of_block;

  explicit HeadLayout(Index count) : heads(count), padded(1) {
    while (padded < heads && padded < kLanes) padded *= 2;
    if (padded < heads) padded = (heads + kLanes - 1) / kLanes * kLanes;
    period = padded < kLanes ? Index(kLanes) : padded;
    arcs_of_block = kBlockNumbers / padded < kBlockArcs ? kBlockNumbers / padded : kBlockArcs;
  }

  /// Calls f(lane, number) for each register of `arcs` arcs' numbers; `lane` is its place in the period.
  template <class F>
  void for_numbers(Index arcs, F f) const {
    Index lane = 0;
    for (Index i = 0; i < arcs * padded; i += kLanes) {
      f(lane, i);
      lane = lane + kLanes == period ? 0 : lane + kLanes;
    }
  }
};

inline void copy_heads(Real* to, const Real* from, Index heads) {
  switch (heads) {
    case 1:
      *to = *from;
      return;
    case 2:
      __builtin_memcpy(to, from, 2 * sizeof(Real));
      return;
    case 4:
      __builtin_memcpy(to, from, 4 * sizeof(Real));
      return;
    case 8:
      __builtin_memcpy(to, from, 8 * sizeof(Real));
      return;
    default:
      for (Index h = 0; h < heads; ++h) to[h] = from[h];
  }
}

/// Repeats heads' numbers over the period.
inline void spread(const HeadLayout& layout, const Real* from, PerHead& to) {
  for (Index first = 0; first < layout.period; first += layout.padded)
    copy_heads(to.at + first, from, layout.heads);
}

/// Combines the lanes of each head, within and between registers; all of them then hold the result.
template <class F>
inline void combine(const HeadLayout& layout, PerHead& numbers, F f) {
  if (layout.padded >= kLanes) return;  // each lane has a head of its own
  IntVec lane{};
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  Vec v = load(numbers.at);
  for (int distance = kLanes / 2; distance >= layout.padded; distance /= 2) {
    v = f(v, permuted(v, lane ^ distance));
  }
  store(numbers.at, v);
}

inline Vec leaky(Vec x, Real slope) {
  return x < Real(0) ? x * slope : x;
}

/// Whether the arc counts. One of weight 0 doesn't: its score may be above all others, and its exponential
/// infinite.
inline bool counts(const float* weights, Index arc) {
  return weights == nullptr || weights[arc] != 0;
}

/// Multiplies numbers (arc by arc) by the arcs' weights; 0 if an arc doesn't count.
inline void multiply_by_weights(const HeadLayout& layout, const float* weights, Index arcs,
                                Numbers& numbers) {
  for (Index e = 0; e < arcs; ++e) {
    const bool counted = counts(weights, e);
    for (Index i = e * layout.padded; i < (e + 1) * layout.padded; ++i)
      numbers.at[i] = counted ? numbers.at[i] * Real(weights[e]) : Real(0);
  }
}

/// The key of an arc's draws, one per head: Draws::bits(key, head).
inline std::uint64_t arc_key(std::uint64_t dst_key, VertexId src_id) {
  return mix64(dst_key ^ std::uint64_t(src_id));
}

/// The keys of a block's arcs.
struct ArcKeys {
  std::uint64_t at[kBlockArcs];
};

/// Multiplies numbers by the arcs' masks, for all arcs and heads together.
inline void drop(const HeadLayout& layout, const Mask& mask, const ArcKeys& keys, Index arcs,
                 Numbers& numbers) {
  std::uint32_t low[kBlockNumbers + kLanes], high[kBlockNumbers + kLanes];
  for (Index e = 0; e < arcs; ++e) {
    for (Index h = 0; h < layout.padded; ++h) {
      low[e * layout.padded + h] = std::uint32_t(keys.at[e]) + std::uint32_t(h) * 0x9e3779b9u;
      high[e * layout.padded + h] = std::uint32_t(keys.at[e] >> 32);
    }
  }
  layout.for_numbers(arcs, [&](Index, Index i) {
    Bits bits, top;
    __builtin_memcpy(&bits, low + i, sizeof bits);
    __builtin_memcpy(&top, high + i, sizeof top);
    store(numbers.at + i, keep_drawn(load(numbers.at + i), mix32(bits) ^ top, mask.threshold, mask.scale));
  });
}

/// The arc to prefetch at arc e; `last` is the chunk's last.
inline Index ahead_of(Index e, Index last) {
  return e + kAttentionAhead < last ? e + kAttentionAhead : last;
}

inline void prefetch(const Real* row, Index count) {
  for (Index c = 0; c < count; c += 64 / Index(sizeof(Real))) __builtin_prefetch(row + c);
}

}  // namespace atl::simd::ATOLL_LEVEL
