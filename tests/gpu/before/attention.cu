// Graph attention (Veličković et al. 2018), forward: scores, softmax and weighted sum in one visit of each neighbour's row, with a running
// maximum (online softmax, Milakov & Gimelshein 2018).
#include "before/attend.h"
#include "tensor/cuda/table.h"

namespace atl::cuda::before {
namespace {

constexpr Real kNothingYet = -std::numeric_limits<Real>::infinity();

/// out and its state, over arcs to a row.
template <int V, int C>
struct WeightedSums {
  simd::Attend a;
  simd::Out new_max, new_sum;  // the new state; apart from a's where several groups read the old one
  HeadSlices slices;

  struct Sum {
    Columns<V, C> out;
    Real max;
    Real p;  // of this lane's arcs
  };

  __device__ Index first_of(Index row) const { return a.offsets[row]; }
  __device__ Sum begin() const {
    Sum sum;
    sum.out.clear();
    sum.max = kNothingYet;
    sum.p = 0;
    return sum;
  }

  /// out += Σ p · z over arcs i … of a batch, kArcs in each way.
  template <int kArcs>
  __device__ void add_some(Sum& sum, Place place, VertexId j, Real p, int i, int arcs, const Lanes& lanes,
                           const Ways& ways) const {
    Columns<V, C> z[kArcs] = {};
    Real weights[kArcs];
#pragma unroll
    for (int n = 0; n < kArcs; ++n) {
      const int arc = i + n * ways.count + ways.way;
      const Real* const from =
          row_of(a.z, lanes.from(arc & (lanes.count - 1), j)) + slices.head(place) * a.width;
      weights[n] = lanes.from(arc & (lanes.count - 1), p);
      if (arc < arcs) z[n].load(from, a.width, slices.slice(place), ways);
    }
#pragma unroll
    for (int n = 0; n < kArcs; ++n) sum.out.add(z[n], weights[n]);
  }

  __device__ void add(Sum& sum, Place place, Index first, Index behind, const Lanes& lanes) const {
    constexpr int kArcs = C == 1 ? 8 : 4;
    const Ways ways(lanes, slices.columns_log);
    const Index head = slices.head(place);
    const Real own = at(a.dst_score, place.row, head);
    const std::uint64_t key = a.mask.threshold == 0 ? 0 : row_key(a.mask.key, a.dst_ids[place.row]);
    for (Index batch = first; batch < behind; batch += lanes.count) {
      const Index e = batch + lanes.lane;
      const VertexId j = e < behind ? a.columns[e] : 0;
      const Real score = e < behind ? leaky(at(a.src_score, j, head) + own, a.slope) : kNothingYet;
      const Real largest = lanes.max(score), top = largest > sum.max ? largest : sum.max;
      const Real shrink = exp(sum.max - top);
      Real p = exp(score - top);
      if (a.weights != nullptr && e < behind) p *= Real(a.weights[e]);
      sum.p = sum.p * shrink + p;
      sum.max = top;
      if (batch > first) sum.out.scale(shrink);
      if (a.mask.threshold != 0 && e < behind) p *= kept(a, key, a.src_ids[j], head);
      const int arcs = behind - batch < lanes.count ? int(behind - batch) : lanes.count;
      int i = 0;
      for (; i + 2 * ways.count < arcs; i += kArcs * ways.count)
        add_some<kArcs>(sum, place, j, p, i, arcs, lanes, ways);
      if (i < arcs) add_some<2>(sum, place, j, p, i, arcs, lanes, ways);
    }
  }

  __device__ void merge(Sum& sum, const Sum& later) const {
    const Real top = later.max > sum.max ? later.max : sum.max;
    const Real ours = exp(sum.max - top), theirs = exp(later.max - top);
    sum.p = sum.p * ours + later.p * theirs;
    sum.out.scale(ours);
    sum.out.add(later.out, theirs);
    sum.max = top;
  }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Ways ways(lanes, slices.columns_log);
    const Index row = place.row, head = slices.head(place);
    if (first_of(row) == first_of(row + 1)) return;
    sum.out.join(lanes, ways);
    const Real p = lanes.sum(sum.p);
    // One lane reads and writes the state, and tells the others.
    Real before = lanes.lane == 0 ? at(a.max, row, head) : Real(0);
    before = lanes.from(0, before);
    const Real top = before > sum.max ? before : sum.max;
    const Real shrink = exp(before - top), grow = exp(sum.max - top);
    if (lanes.lane == 0 && slices.slice(place) == 0) {
      at(new_sum, row, head) = at(a.sum, row, head) * shrink + p * grow;
      at(new_max, row, head) = top;
    }
    if (ways.way > 0) return;
#pragma unroll
    for (int k = 0; k < C; ++k) {
      const Index c = sum.out.column(slices.slice(place), ways, k);
      if (c >= a.width) continue;
      Real* const to = row_of(a.out, row) + head * a.width + c;
      for (int v = 0; v < V; ++v) to[v] = to[v] * shrink + sum.out.at[k].at[v] * grow;
    }
  }
};

}  // namespace

simd::Attend plain(const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const SoftmaxState& state) {
  simd::Attend s;
  s.heads = a.heads;
  s.width = z.cols / a.heads;
  s.slope = a.slope;
  if (a.dropout_rate > 0)
    s.mask = {drop_threshold(a.dropout_rate), Real(1 / (1 - a.dropout_rate)), a.draws.key(), nullptr};
  s.dst_ids = a.dst_ids.data();
  s.src_ids = a.src_ids.data();
  s.z = atl::plain(z);
  s.dst_score = atl::plain(dst_score);
  s.src_score = atl::plain(src_score);
  s.max = plain_out(state.max);
  s.sum = plain_out(state.sum);
  return s;
}

void attention_add(Context& ctx, const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const Softmaxes& softmaxes) {
  simd::Attend s = plain(a, z, dst_score, src_score, softmaxes.state);
  const CsrView& arcs = a.arcs.csr;
  s.offsets = arcs.offsets;
  s.columns = arcs.columns;
  s.weights = arcs.weights;
  s.out = plain_out(softmaxes.out);
  const bool fours = in_fours(s.width, {{s.z.data, s.z.stride}});
  for_heads(fours, arcs, s.heads, s.width, [&]<int V, int C>(HeadSlices slices, const ArcShape& shape) {
    if (slices.slices == 1) return for_arcs(ctx, WeightedSums<V, C>{s, s.max, s.sum, slices}, shape);
    const MatrixView max = ctx.workspace->matrix("attention.max", arcs.rows, s.heads),
                     sum = ctx.workspace->matrix("attention.sum", arcs.rows, s.heads);
    cuda::axpby(ctx, 1, softmaxes.state.max, 0, max);  // rows without arcs keep theirs
    cuda::axpby(ctx, 1, softmaxes.state.sum, 0, sum);
    for_arcs(ctx, WeightedSums<V, C>{s, plain_out(max), plain_out(sum), slices}, shape);
    cuda::axpby(ctx, 1, max, 0, softmaxes.state.max);
    cuda::axpby(ctx, 1, sum, 0, softmaxes.state.sum);
  });
}

}  // namespace atl::cuda::before
