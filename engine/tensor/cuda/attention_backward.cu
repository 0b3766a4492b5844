// Attention's way back. By source: z's gradient and that of the source's score, over the transposed arcs. By destination: that of its
// score, for which α and <z, d_out> are computed a second time, so that nothing is kept per arc.
#include "tensor/cuda/attend.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// Rows are sources and columns destinations (kBySource), or the other way round.
template <int V, int C, bool kBySource>
struct Gradients {
  simd::Attend a;
  HeadSlices<V, C> slices;

  static constexpr Index kHub = kHubArcs;
  struct Sum {
    HeadColumns<V, C> d_z;
    Real d_score;
  };

  __device__ Index first_of(Index row) const { return a.offsets[row]; }
  __device__ Sum begin(Place, const Lanes&) const {
    Sum sum;
    sum.d_z.clear();
    sum.d_score = 0;
    return sum;
  }

  /// <own, other> over the head's columns, of which `values` holds the other's in this slice.
  __device__ Real product(const HeadColumns<V, C>& own, const Pack<V> (&values)[C], const Real* own_row,
                          const Real* other_row, const Lanes& lanes) const {
    Real sum = 0;
    if (slices.slices > 1) {
      for (Index c = lanes.lane; c < a.width; c += lanes.count) sum += own_row[c] * other_row[c];
    } else {
#pragma unroll
      for (int k = 0; k < C; ++k)
#pragma unroll
        for (int v = 0; v < V; ++v) sum += own.at[k].at[v] * values[k].at[v];
    }
    return lanes.sum(sum);
  }

  __device__ void add(Sum& sum, Place place, Index first, Index behind, Index step,
                      const Lanes& lanes) const {
    const Index head = slices.head(place), row = place.row;
    const Real* const own_row = (kBySource ? row_of(a.z, row) : row_of(a.d_out, row)) + head * a.width;
    HeadColumns<V, C> own{};
#pragma unroll
    for (int k = 0; k < C; ++k)
      if (const Index c = slices.column(place, lanes, k); c < a.width) own.at[k] = load_pack<V>(own_row + c);
    const std::uint64_t row_of_draws =
        a.mask.threshold == 0 || kBySource ? 0 : row_key(a.mask.key, a.dst_ids[row]);
    for (Index e = first; e < behind; e += step) {
      const VertexId other = a.columns[e];
      const Index src = kBySource ? row : other, dst = kBySource ? other : row;
      const Real* const other_row =
          (kBySource ? row_of(a.d_out, other) : row_of(a.z, other)) + head * a.width;
      Pack<V> values[C] = {};
#pragma unroll
      for (int k = 0; k < C; ++k)
        if (const Index c = slices.column(place, lanes, k); c < a.width)
          values[k] = load_pack<V>(other_row + c);
      const Real score = at(a.src_score, src, head) + at(a.dst_score, dst, head);
      Real alpha = exp(leaky(score, a.slope) - at(a.max, dst, head)) / at(a.sum, dst, head);
      if (a.weights != nullptr) alpha *= Real(a.weights[e]);
      Real mask = 1;
      if (a.mask.threshold != 0)
        mask = kept(a, kBySource ? row_key(a.mask.key, a.dst_ids[dst]) : row_of_draws, a.src_ids[src], head);
      const Real d = alpha * (mask * product(own, values, own_row, other_row, lanes) - at(a.dot, dst, head));
      sum.d_score += score < Real(0) ? d * a.slope : d;
      if constexpr (kBySource) {
#pragma unroll
        for (int k = 0; k < C; ++k)
#pragma unroll
          for (int v = 0; v < V; ++v) sum.d_z.at[k].at[v] += alpha * mask * values[k].at[v];
      }
    }
  }

  __device__ void merge(Sum& sum, const Sum& other) const {
    sum.d_score += other.d_score;
    for (int k = 0; k < C; ++k)
      for (int v = 0; v < V; ++v) sum.d_z.at[k].at[v] += other.d_z.at[k].at[v];
  }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Index head = slices.head(place);
    const bool writes_score = slices.first(place) && lanes.lane == 0;
    if constexpr (kBySource) {
      if (writes_score) at(a.d_src_score, place.row, head) = sum.d_score;
      for (int k = 0; k < C; ++k) {
        const Index c = slices.column(place, lanes, k);
        if (c >= a.width) continue;
        Real* const to = row_of(a.d_z, place.row) + head * a.width + c;
        for (int v = 0; v < V; ++v) to[v] = sum.d_z.at[k].at[v];
      }
    } else if (writes_score) {
      at(a.d_dst_score, place.row, head) += sum.d_score;
    }
  }
};

}  // namespace

void attention_backward(Context& ctx, const Attention& a, const CsrView& transpose,
                        const Index* /*transpose_arc*/, ConstMatrixView z, ConstMatrixView dst_score,
                        ConstMatrixView src_score, const SoftmaxState& state, ConstMatrixView dot,
                        ConstMatrixView d_out, MatrixView d_z, MatrixView d_src_score,
                        MatrixView d_dst_score) {
  simd::Attend s = plain(a, z, dst_score, src_score, state);
  s.dot = atl::plain(dot);
  s.d_out = atl::plain(d_out);
  s.d_z = plain_out(d_z);
  s.d_src_score = plain_out(d_src_score);
  s.d_dst_score = plain_out(d_dst_score);
  const bool fours = in_fours(s.width, {{s.z.data, s.z.stride}, {s.d_out.data, s.d_out.stride}});
  s.offsets = transpose.offsets;
  s.columns = transpose.columns;
  s.weights = transpose.weights;
  for_heads(fours, transpose.rows, s.heads, s.width, [&]<int V, int C>(int slices, const ArcShape& shape) {
    for_arcs(ctx, Gradients<V, C, true>{s, {slices}}, shape);
  });
  s.offsets = a.arcs.csr.offsets;
  s.columns = a.arcs.csr.columns;
  s.weights = a.arcs.csr.weights;
  for_heads(fours, a.arcs.csr.rows, s.heads, s.width, [&]<int V, int C>(int slices, const ArcShape& shape) {
    for_arcs(ctx, Gradients<V, C, false>{s, {slices}}, shape);
  });
}

}  // namespace atl::cuda
