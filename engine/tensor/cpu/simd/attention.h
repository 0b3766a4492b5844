// Code shared by attention's forward and backward loops. Arcs are done in blocks. A block's numbers, one per
// arc and head, lie arc by arc in arrays that stay in the first-level cache, so that registers are full
// whatever the number of heads.
#pragma once

#include "tensor/cpu/simd/exp.h"
#include "tensor/cpu/simd/heads.h"
#include "tensor/cpu/simd/loops.h"
#include "tensor/cpu/simd/mask.h"

namespace atl::simd::ATOLL_LEVEL {

inline constexpr Index kBlockNumbers = 1024;  // numbers of one kind in a block
inline constexpr Index kBlockArcs = 64;
inline constexpr Index kAttentionAhead = 12;  // arcs between prefetch and use

/// One number for each arc and padded head of a block.
struct Numbers {
  Real at[kBlockNumbers + kLanes];
};

/// One number per lane of a period of Numbers, repeated for each head; element h is head h's.
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
