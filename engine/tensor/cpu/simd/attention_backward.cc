// Backward of attention.cc over the transposed arcs: rows are sources, `columns` destinations. Each
// destination's gradient row is visited once, for both z's gradient and the score's. The gradients of the
// destinations' scores are left in d_score, one number per arc and head, and summed by destination
// afterwards.
#include "tensor/cpu/simd/attention.h"
#include "tensor/cpu/simd/level.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

constexpr int kMost = kBytes == 64 ? 8 : 4;  // registers of a tile; a loop holds two tiles, z's and d_z's

/// The numbers of a block's arcs, per arc and head.
struct ArcNumbers {
  Numbers score;  // before LeakyReLU; finally the arc's gradient
  Numbers top;    // the destination's maximum, 1 / sum and Σ_k α_k dα_k
  Numbers inverse;
  Numbers dot;
  Numbers alpha;
  Numbers kept;     // α's mask: 0 or 1 / (1 − rate)
  Numbers product;  // <z, d_out>
};

/// Computes α of a block's arcs. a.packed has a destination's numbers side by side.
void find_alpha(const Attend& a, const HeadLayout& layout, const PerHead& own, Index begin, Index end,
                Index last, ArcNumbers& b) {
  for (Index e = begin; e < end; ++e) {
    prefetch(a.packed.row(a.columns[ahead_of(e, last)]), 4 * layout.heads);
    __builtin_prefetch(a.d_score + a.arc_of[e] * layout.heads, 1);
    const Real* packed = a.packed.row(a.columns[e]);
    const Index heads = layout.heads, place = (e - begin) * layout.padded;
    copy_heads(b.score.at + place, packed, heads);
    copy_heads(b.top.at + place, packed + heads, heads);
    copy_heads(b.inverse.at + place, packed + 2 * heads, heads);
    copy_heads(b.dot.at + place, packed + 3 * heads, heads);
  }
  layout.for_numbers(end - begin, [&](Index lane, Index i) {
    const Vec score = load(b.score.at + i) + load(own.at + lane);
    store(b.score.at + i, score);
    store(b.alpha.at + i, exp(leaky(score, a.slope) - load(b.top.at + i)) * load(b.inverse.at + i));
    store(b.kept.at + i, splat(1));
    store(b.product.at + i, Vec{});
  });
  if (a.weights != nullptr) multiply_by_weights(layout, a.weights + begin, end - begin, b.alpha);
}

void find_mask(const Attend& a, const HeadLayout& layout, Index row, Index begin, Index end, ArcNumbers& b) {
  ArcKeys keys;
  for (Index e = begin; e < end; ++e) {
    keys.at[e - begin] = arc_key(row_key(a.mask.key, a.dst_ids[a.columns[e]]), a.src_ids[row]);
  }
  drop(layout, a.mask, keys, end - begin, b.kept);
}

/// d_z (+)= Σ α · kept · d_out, and product += <z, d_out>.
void gather(const Attend& a, const HeadLayout& layout, Index row, Index begin, Index end, Index last,
            bool first, ArcNumbers& b) {
  for_head_tiles<kMost>(a.heads, a.width, [&]<int G, int V, bool kPart>(HeadTile tile) {
    const Real* z = a.z.row(row) + tile.column;
    Real* d_z = a.d_z.row(row) + tile.column;
    Vec own[G][V], acc[G][V];
    for (int g = 0; g < G; ++g) {
      for (int v = 0; v < V; ++v) {
        own[g][v] = load_of_head<V, kPart>(z + g * a.width, v, tile.part);
        acc[g][v] = first ? Vec{} : load_of_head<V, kPart>(d_z + g * a.width, v, tile.part);
      }
    }
    for (Index e = begin; e < end; ++e) {
      prefetch(a.d_out.row(a.columns[ahead_of(e, last)]) + tile.column, G * a.width);
      const Real* d_out = a.d_out.row(a.columns[e]) + tile.column;
      const Index i = (e - begin) * layout.padded + tile.head;
      for (int g = 0; g < G; ++g) {
        const Real weight = b.alpha.at[i + g] * b.kept.at[i + g];
        Vec product{};
        for (int v = 0; v < V; ++v) {
          const Vec d = load_of_head<V, kPart>(d_out + g * a.width, v, tile.part);
          acc[g][v] += d * weight;
          product += d * own[g][v];
        }
        b.product.at[i + g] += sum_lanes(product);
      }
    }
    for (int g = 0; g < G; ++g) {
      for (int v = 0; v < V; ++v) store_of_head<V, kPart>(d_z + g * a.width, v, tile.part, acc[g][v]);
    }
  });
}

/// Computes the gradients of the scores; d_own collects the source's.
void write_scores(const Attend& a, const HeadLayout& layout, Index begin, Index end, ArcNumbers& b,
                  PerHead& d_own) {
  layout.for_numbers(end - begin, [&](Index lane, Index i) {
    const Vec inner = load(b.kept.at + i) * load(b.product.at + i) - load(b.dot.at + i);
    const Vec d = load(b.alpha.at + i) * inner;
    const Vec d_score = load(b.score.at + i) < Real(0) ? d * a.slope : d;
    store(b.score.at + i, d_score);
    // Lanes after the last arc hold old numbers.
    const Index arcs_left = (end - begin) * layout.padded - i;
    store(d_own.at + lane,
          load(d_own.at + lane) + (arcs_left < kLanes ? load_part(b.score.at + i, int(arcs_left)) : d_score));
  });
  for (Index e = begin; e < end; ++e) {
    copy_heads(a.d_score + a.arc_of[e] * layout.heads, b.score.at + (e - begin) * layout.padded,
               layout.heads);
  }
}

}  // namespace

void attend_backward(const Attend& a, Index begin, Index end) {
  const HeadLayout layout(a.heads);
  const Index last = a.offsets[end] - 1;
  ArcNumbers block{};
  PerHead own{}, d_own{};
  for (Index row = begin; row < end; ++row) {
    const Index first = a.offsets[row], stop = a.offsets[row + 1];
    spread(layout, a.src_score.row(row), own);
    for (Index lane = 0; lane < layout.period; lane += kLanes) store(d_own.at + lane, Vec{});
    if (first == stop) gather(a, layout, row, first, stop, last, true, block);
    for (Index e = first; e < stop; e += layout.arcs_of_block) {
      const Index until = e + layout.arcs_of_block < stop ? e + layout.arcs_of_block : stop;
      find_alpha(a, layout, own, e, until, last, block);
      if (a.mask.threshold != 0) find_mask(a, layout, row, e, until, block);
      gather(a, layout, row, e, until, last, e == first, block);
      write_scores(a, layout, e, until, block, d_own);
    }
    combine(layout, d_own, [](Vec x, Vec y) { return x + y; });
    copy_heads(a.d_src_score.row(row), d_own.at, a.heads);
  }
}

void pack_scores(const Attend& a, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    Real* packed = a.packed.row(row);
    copy_heads(packed, a.dst_score.row(row), a.heads);
    copy_heads(packed + a.heads, a.max.row(row), a.heads);
    for (Index h = 0; h < a.heads; ++h) {
      const Real sum = a.sum.row(row)[h];  // 0 if all arcs weigh 0
      packed[2 * a.heads + h] = sum == 0 ? Real(0) : Real(1) / sum;
    }
    copy_heads(packed + 3 * a.heads, a.dot.row(row), a.heads);
  }
}

void add_arc_scores(const Attend& a, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    Real* to = a.d_dst_score.row(row);
    for (Index e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
      for (Index h = 0; h < a.heads; ++h) to[h] += a.d_score[e * a.heads + h];
    }
  }
}

}  // namespace atl::simd::ATOLL_LEVEL
