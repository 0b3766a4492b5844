// Graph attention (Veličković et al. 2018), forward: the largest score of each row and head first, from scores alone, then sums under
// it in one visit of each neighbour.
#include "tensor/cuda/attend.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

constexpr Real kNothingYet = -std::numeric_limits<Real>::infinity();

/// max ← the largest score with this block's, sum ← sum · shrink, shrink (dst, heads) = e^(old max − new max).
struct LargestScores {
  simd::Attend a;
  simd::Out shrink;

  static constexpr Index kHub = kHubArcs;
  struct Sum {
    Real largest;
  };

  __device__ Index first_of(Index row) const { return a.offsets[row]; }
  __device__ Sum begin(Place, const Lanes&) const { return {kNothingYet}; }
  __device__ void add(Sum& sum, Place place, Index first, Index behind, Index step, const Lanes&) const {
    for (Index e = first; e < behind; e += step) {
      const Real score = at(a.src_score, a.columns[e], place.part);
      if (score > sum.largest) sum.largest = score;
    }
  }
  __device__ void merge(Sum& sum, const Sum& other) const {
    if (other.largest > sum.largest) sum.largest = other.largest;
  }
  __device__ void finish(Sum& sum, Place place, const Lanes&) const {
    const Index row = place.row, head = place.part;
    if (first_of(row) == first_of(row + 1)) return;
    Real& max = at(a.max, row, head);
    // LeakyReLU is monotone: the largest result is that of the largest score.
    const Real block = leaky(sum.largest + at(a.dst_score, row, head), a.slope),
               top = block > max ? block : max;
    const Real factor = exp(max - top);
    at(shrink, row, head) = factor;
    max = top;
    at(a.sum, row, head) *= factor;
  }
};

/// out ← out · shrink + Σ p · mask · z, sum ← sum + Σ p.
template <int V, int C>
struct WeightedSums {
  simd::Attend a;
  simd::Out shrink;
  HeadSlices<V, C> slices;

  static constexpr Index kHub = kHubArcs;
  struct Sum {
    HeadColumns<V, C> out;
    Real p;
  };

  __device__ Index first_of(Index row) const { return a.offsets[row]; }
  __device__ Sum begin(Place, const Lanes&) const {
    Sum sum;
    sum.out.clear();
    sum.p = 0;
    return sum;
  }
  __device__ void add(Sum& sum, Place place, Index first, Index behind, Index step,
                      const Lanes& lanes) const {
    const Index head = slices.head(place);
    const Real own = at(a.dst_score, place.row, head), top = at(a.max, place.row, head);
    const std::uint64_t key = a.mask.threshold == 0 ? 0 : row_key(a.mask.key, a.dst_ids[place.row]);
#pragma unroll 2
    for (Index e = first; e < behind; e += step) {
      const VertexId j = a.columns[e];
      const Real* const z = row_of(a.z, j) + head * a.width;
      Pack<V> values[C] = {};
#pragma unroll
      for (int k = 0; k < C; ++k)
        if (const Index c = slices.column(place, lanes, k); c < a.width) values[k] = load_pack<V>(z + c);
      Real p = exp(leaky(at(a.src_score, j, head) + own, a.slope) - top);
      if (a.weights != nullptr) p *= Real(a.weights[e]);
      sum.p += p;
      if (a.mask.threshold != 0) p *= kept(a, key, a.src_ids[j], head);
#pragma unroll
      for (int k = 0; k < C; ++k)
#pragma unroll
        for (int v = 0; v < V; ++v) sum.out.at[k].at[v] += p * values[k].at[v];
    }
  }
  __device__ void merge(Sum& sum, const Sum& other) const {
    sum.p += other.p;
    for (int k = 0; k < C; ++k)
      for (int v = 0; v < V; ++v) sum.out.at[k].at[v] += other.out.at[k].at[v];
  }
  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    if (first_of(place.row) == first_of(place.row + 1)) return;
    const Index head = slices.head(place);
    const Real factor = at(shrink, place.row, head);
    if (slices.first(place) && lanes.lane == 0) at(a.sum, place.row, head) += sum.p;
    for (int k = 0; k < C; ++k) {
      const Index c = slices.column(place, lanes, k);
      if (c >= a.width) continue;
      Real* const to = row_of(a.out, place.row) + head * a.width + c;
      for (int v = 0; v < V; ++v) to[v] = to[v] * factor + sum.out.at[k].at[v];
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
  const simd::Out shrink = plain_out(ctx.workspace->matrix("attention.shrink", arcs.rows, s.heads));
  for_arcs(ctx, LargestScores{s, shrink}, {arcs.rows, s.heads, true, 1});
  const bool fours = in_fours(s.width, {{s.z.data, s.z.stride}});
  for_heads(fours, arcs.rows, s.heads, s.width, [&]<int V, int C>(int slices, const ArcShape& shape) {
    for_arcs(ctx, WeightedSums<V, C>{s, shrink, {slices}}, shape);
  });
}

}  // namespace atl::cuda
