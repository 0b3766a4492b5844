// Attention's way back. By source: z's gradient and that of the source's score, over the transposed arcs. By destination: that of its
// score, for which α and <z, d_out> are computed a second time, so that nothing is kept per arc.
#include "before/attend.h"
#include "tensor/cuda/elements.h"
#include "tensor/cuda/table.h"

namespace atl::cuda::before {
namespace {

/// What an arc needs of a destination's head, read at once.
enum Packed { kScore, kMax, kInverse, kDot, kPacked };

/// Rows are sources and columns destinations (kBySource), or the other way round.
template <int V, int C, bool kBySource>
struct Gradients {
  simd::Attend a;
  HeadSlices slices;

  struct Sum {
    Columns<V, kBySource ? C : 1> d_z;
    Real d_score;  // of this lane's arcs
  };
  /// A lane's arc.
  struct Arc {
    VertexId other = 0;
    Real alpha = 0, mask = 1, dot = 0, slope = 1;
  };

  __device__ Index first_of(Index row) const { return a.offsets[row]; }
  __device__ Sum begin() const {
    Sum sum;
    sum.d_z.clear();
    sum.d_score = 0;
    return sum;
  }

  __device__ Arc arc_of(Index e, Index row, Index head) const {
    Arc arc;
    arc.other = a.columns[e];
    const Index src = kBySource ? row : arc.other, dst = kBySource ? arc.other : row;
    const auto packed = load_pack<4>(row_of(a.packed, dst) + head * kPacked);
    const Real score = at(a.src_score, src, head) + packed.at[kScore];
    arc.alpha = exp(leaky(score, a.slope) - packed.at[kMax]) * packed.at[kInverse];
    if (a.weights != nullptr) arc.alpha *= Real(a.weights[e]);
    if (a.mask.threshold != 0) arc.mask = kept(a, row_key(a.mask.key, a.dst_ids[dst]), a.src_ids[src], head);
    arc.dot = packed.at[kDot];
    arc.slope = score < Real(0) ? a.slope : Real(1);
    return arc;
  }

  __device__ const Real* row_of_own(Index row, Index head) const {
    return (kBySource ? row_of(a.z, row) : row_of(a.d_out, row)) + head * a.width;
  }
  __device__ const Real* row_of_other(Index row, Index head) const {
    return (kBySource ? row_of(a.d_out, row) : row_of(a.z, row)) + head * a.width;
  }

  /// Arcs i … of a batch, kArcs in each way; leaves <own, other> with the lane whose arc it is.
  template <int kArcs>
  __device__ void add_some(Sum& sum, const Columns<V, C>& own, Place place, const Arc& arc, int i, int arcs,
                           Real& product, const Lanes& lanes, const Ways& ways) const {
    const Index head = slices.head(place);
    Columns<V, C> values[kArcs] = {};
    const Real* rows[kArcs];
#pragma unroll
    for (int e = 0; e < kArcs; ++e) {
      const int number = i + e * ways.count + ways.way;
      rows[e] = row_of_other(lanes.from(number & (lanes.count - 1), arc.other), head);
      if (number < arcs) values[e].load(rows[e], a.width, slices.slice(place), ways);
    }
#pragma unroll
    for (int e = 0; e < kArcs; ++e) {
      const int number = i + e * ways.count + ways.way;
      Real mine = 0;
      if (slices.slices == 1) {
        mine = own.dot(values[e]);
      } else if (number < arcs) {  // the slice is a part of what is multiplied
        const Real* const own_row = row_of_own(place.row, head);
        for (Index c = ways.lane; c < a.width; c += ways.columns) mine += own_row[c] * rows[e][c];
      }
      const Real whole = ways.sum_of_way(lanes, mine);
      const int way_of_mine = lanes.lane - i - e * ways.count;
      const bool is_mine = way_of_mine >= 0 && way_of_mine < ways.count;
      const Real found = lanes.from(is_mine ? way_of_mine * ways.columns : 0, whole);
      if (is_mine) product = found;
      if constexpr (kBySource)
        sum.d_z.add(values[e], lanes.from(number & (lanes.count - 1), arc.alpha * arc.mask));
    }
  }

  __device__ void add(Sum& sum, Place place, Index first, Index behind, const Lanes& lanes) const {
    constexpr int kArcs = 4;
    const Ways ways(lanes, slices.columns_log);
    const Index head = slices.head(place);
    Columns<V, C> own{};
    own.load(row_of_own(place.row, head), a.width, slices.slice(place), ways);
    for (Index batch = first; batch < behind; batch += lanes.count) {
      const Index e = batch + lanes.lane;
      const Arc arc = e < behind ? arc_of(e, place.row, head) : Arc{};
      const int arcs = behind - batch < lanes.count ? int(behind - batch) : lanes.count;
      Real product = 0;
      int i = 0;
      for (; i + ways.count < arcs; i += kArcs * ways.count)
        add_some<kArcs>(sum, own, place, arc, i, arcs, product, lanes, ways);
      if (i < arcs) add_some<1>(sum, own, place, arc, i, arcs, product, lanes, ways);
      sum.d_score += arc.alpha * (arc.mask * product - arc.dot) * arc.slope;
    }
  }

  __device__ void merge(Sum& sum, const Sum& later) const {
    sum.d_score += later.d_score;
    sum.d_z.add(later.d_z, 1);
  }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Index head = slices.head(place);
    const Real d_score = lanes.sum(sum.d_score);
    const bool writes_score = slices.slice(place) == 0 && lanes.lane == 0;
    if constexpr (kBySource) {
      const Ways ways(lanes, slices.columns_log);
      sum.d_z.join(lanes, ways);
      if (writes_score) at(a.d_src_score, place.row, head) = d_score;
      if (ways.way > 0) return;
      for (int k = 0; k < C; ++k) {
        const Index c = sum.d_z.column(slices.slice(place), ways, k);
        if (c >= a.width) continue;
        Real* const to = row_of(a.d_z, place.row) + head * a.width + c;
        for (int v = 0; v < V; ++v) to[v] = sum.d_z.at[k].at[v];
      }
    } else if (writes_score) {
      at(a.d_dst_score, place.row, head) += d_score;
    }
  }
};

/// a.packed (dst, 4 · heads).
void pack_destinations(Context& ctx, simd::Attend& a, Index rows) {
  const MatrixView packed = ctx.workspace->matrix("attention.packed", rows, kPacked * a.heads);
  a.packed = plain_out(packed);
  for_elements(ctx, rows, a.heads, [a] __device__(Index row, Index head) {
    Real* const to = row_of(a.packed, row) + head * kPacked;
    to[kScore] = at(a.dst_score, row, head);
    to[kMax] = at(a.max, row, head);
    to[kInverse] = Real(1) / at(a.sum, row, head);
    to[kDot] = at(a.dot, row, head);
  });
}

}  // namespace

void attention_backward(Context& ctx, const Attention& a, const CsrView& transpose,
                        const Index* /*transpose_arc*/, ConstMatrixView z, ConstMatrixView dst_score,
                        ConstMatrixView src_score, const SoftmaxState& state, ConstMatrixView dot,
                        ConstMatrixView d_out, MatrixView d_z, MatrixView d_src_score,
                        MatrixView d_dst_score) {
  const CsrView& arcs = a.arcs.csr;
  simd::Attend s = plain(a, z, dst_score, src_score, state);
  s.dot = atl::plain(dot);
  s.d_out = atl::plain(d_out);
  s.d_z = plain_out(d_z);
  s.d_src_score = plain_out(d_src_score);
  s.d_dst_score = plain_out(d_dst_score);
  pack_destinations(ctx, s, arcs.rows);
  const bool fours = in_fours(s.width, {{s.z.data, s.z.stride}, {s.d_out.data, s.d_out.stride}});
  const auto along = [&s](const CsrView& csr) {
    simd::Attend turned = s;
    turned.offsets = csr.offsets, turned.columns = csr.columns, turned.weights = csr.weights;
    return turned;
  };
  for_heads(fours, transpose, s.heads, s.width, [&]<int V, int C>(HeadSlices slices, const ArcShape& shape) {
    for_arcs(ctx, Gradients<V, C, true>{along(transpose), slices}, shape);
  });
  for_heads(fours, arcs, s.heads, s.width, [&]<int V, int C>(HeadSlices slices, const ArcShape& shape) {
    for_arcs(ctx, Gradients<V, C, false>{along(arcs), slices}, shape);
  });
}

}  // namespace atl::cuda::before
