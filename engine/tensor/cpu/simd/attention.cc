// GAT's score, softmax and weighted sum in one visit of each neighbour's row, with a running maximum and sum.
// A block of arcs first raises the maximum and shrinks the sums so far, then adds its exponentials (online
// softmax).
#include "tensor/cpu/simd/attention.h"

#include "tensor/cpu/simd/level.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

constexpr int kMost = 8;  // registers of a tile

/// A destination row's state while its arcs are visited. Lanes of a head agree, except in `sum`, whose lanes
/// are added last.
struct Destination {
  PerHead score, most, top, sum, shrink;
};

constexpr Real kNothing = -Real(__builtin_inf());  // a maximum over no arcs

/// Turns the scores of a block's arcs into exponentials, and updates top, shrink and sum. Arcs of weight 0
/// don't raise the maximum.
void exponentiate(const Attend& a, const HeadLayout& layout, Index begin, Index end, Destination& d,
                  Numbers& p) {
  const Index arcs = end - begin;
  store(p.at + arcs * layout.padded / kLanes * kLanes, splat(kNothing));  // lanes after the last arc
  for (Index e = 0; e < arcs; ++e) {
    Real* const to = p.at + e * layout.padded;
    if (counts(a.weights, begin + e))
      copy_heads(to, a.src_score.row(a.columns[begin + e]), layout.heads);
    else
      for (Index h = 0; h < layout.padded; ++h) to[h] = kNothing;
  }
  for (Index lane = 0; lane < layout.period; lane += kLanes) store(d.most.at + lane, load(p.at + lane));
  layout.for_numbers(arcs, [&](Index lane, Index i) {
    store(d.most.at + lane, max(load(p.at + i), load(d.most.at + lane)));
  });
  combine(layout, d.most, [](Vec x, Vec y) { return max(x, y); });
  for (Index lane = 0; lane < layout.period; lane += kLanes) {
    const Vec old = load(d.top.at + lane);
    // LeakyReLU is monotone, so the largest score gives the largest result. −∞ is passed on unchanged,
    // because the slope may be 0, and −∞ · 0 is NaN.
    const Vec most = load(d.most.at + lane) + load(d.score.at + lane);
    const Vec top = max(old, most == kNothing ? most : leaky(most, a.slope));
    const Vec shrink = old == top ? splat(1) : exp(old - top);
    store(d.top.at + lane, top);
    store(d.shrink.at + lane, shrink);
    store(d.sum.at + lane, load(d.sum.at + lane) * shrink);
  }
  layout.for_numbers(arcs, [&](Index lane, Index i) {
    const Vec score = leaky(load(p.at + i) + load(d.score.at + lane), a.slope);
    store(p.at + i, exp(score - load(d.top.at + lane)));
  });
}

/// Weights, sums and masks the exponentials.
void weigh(const Attend& a, const HeadLayout& layout, Index row, Index begin, Index end, Destination& d,
           Numbers& p) {
  if (a.weights != nullptr) multiply_by_weights(layout, a.weights + begin, end - begin, p);
  for (Index i = (end - begin) * layout.padded; i % kLanes != 0; ++i) p.at[i] = 0;  // after the last arc
  layout.for_numbers(end - begin, [&](Index lane, Index i) {
    store(d.sum.at + lane, load(d.sum.at + lane) + load(p.at + i));
  });
  if (a.mask.threshold == 0) return;
  const std::uint64_t key = row_key(a.mask.key, a.dst_ids[row]);
  ArcKeys keys;
  for (Index e = begin; e < end; ++e) keys.at[e - begin] = arc_key(key, a.src_ids[a.columns[e]]);
  drop(layout, a.mask, keys, end - begin, p);
}

/// out ← out · shrink + Σ p · z over arcs [begin, end), a tile of heads at a time. Prefetches rows up to arc
/// `last`, which may be in a later block.
void gather(const Attend& a, const HeadLayout& layout, Index row, Index begin, Index end, Index last,
            const Destination& d, const Numbers& p) {
  for_head_tiles<kMost>(a.heads, a.width, [&]<int G, int V, bool kPart>(HeadTile tile) {
    Real* out = a.out.row(row) + tile.column;
    Vec acc[G][V];
    for (int g = 0; g < G; ++g) {
      for (int v = 0; v < V; ++v) {
        acc[g][v] = load_of_head<V, kPart>(out + g * a.width, v, tile.part) * d.shrink.at[tile.head + g];
      }
    }
    for (Index e = begin; e < end; ++e) {
      prefetch(a.z.row(a.columns[ahead_of(e, last)]) + tile.column, G * a.width);
      const Real* z = a.z.row(a.columns[e]) + tile.column;
      const Real* weight = p.at + (e - begin) * layout.padded + tile.head;
      for (int g = 0; g < G; ++g) {
        for (int v = 0; v < V; ++v)
          acc[g][v] += load_of_head<V, kPart>(z + g * a.width, v, tile.part) * weight[g];
      }
    }
    for (int g = 0; g < G; ++g) {
      for (int v = 0; v < V; ++v) store_of_head<V, kPart>(out + g * a.width, v, tile.part, acc[g][v]);
    }
  });
}

}  // namespace

void attend(const Attend& a, Index begin, Index end) {
  const HeadLayout layout(a.heads);
  Destination d{};
  Numbers p{};
  for (Index row = begin; row < end; ++row) {
    const Index first = a.offsets[row], stop = a.offsets[row + 1];
    if (first == stop) continue;
    spread(layout, a.dst_score.row(row), d.score);
    spread(layout, a.max.row(row), d.top);
    for (Index lane = 0; lane < layout.period; lane += kLanes) store(d.sum.at + lane, Vec{});
    copy_heads(d.sum.at, a.sum.row(row), a.heads);
    for (Index e = first; e < stop; e += layout.arcs_of_block) {
      const Index until = e + layout.arcs_of_block < stop ? e + layout.arcs_of_block : stop;
      exponentiate(a, layout, e, until, d, p);
      weigh(a, layout, row, e, until, d, p);
      gather(a, layout, row, e, until, a.offsets[end] - 1, d, p);
    }
    combine(layout, d.sum, [](Vec x, Vec y) { return x + y; });
    copy_heads(a.max.row(row), d.top.at, a.heads);
    copy_heads(a.sum.row(row), d.sum.at, a.heads);
  }
}

}  // namespace atl::simd::ATOLL_LEVEL
