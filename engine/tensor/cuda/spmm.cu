// Sums over neighbours, and products with features kept as CSR, which are the same sums with a value per arc.
#include "tensor/cuda/arc_rows.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// out[i, c] (+)= row_scale[i] Σ_e value(e) · x[columns[e], c], then the finish, for columns of a slice.
template <int V, int C>
struct SumOfRows {
  simd::Spmm s;
  Index cols;

  static constexpr Index kHub = kHubArcs;
  struct Sum {
    Pack<V> at[C];
  };

  __device__ Index first_of(Index row) const { return s.offsets[row]; }

  __device__ Sum begin(Place, const Lanes&) const {
    Sum sum;
    for (int k = 0; k < C; ++k)
      for (int v = 0; v < V; ++v) sum.at[k].at[v] = 0;
    return sum;
  }

  __device__ Index column(Place place, const Lanes& lanes, int k) const {
    return (place.part * C + k) * lanes.count * V + lanes.lane * V;
  }

  /// What arc e from column j multiplies with.
  __device__ Real value(Index e, VertexId j, Index row, std::uint64_t key) const {
    Real value = s.weights == nullptr ? Real(1) : Real(s.weights[e]);
    if (s.col_scale != nullptr) value *= s.col_scale[j];
    if (s.arc_mask == simd::ArcMask::kByRow) value = masked(value, key, j, s.mask);
    if (s.arc_mask == simd::ArcMask::kByColumn)
      value = masked(value, row_key(s.mask, j), s.first_row + row, s.mask);
    return value;
  }

  /// So many arcs at a time: their rows are all on their way before the first is used.
  template <int kArcs>
  __device__ void add_some(Sum& sum, Place place, Index e, Index step, const Lanes& lanes,
                           std::uint64_t key) const {
    VertexId j[kArcs];
    Real values[kArcs];
    Pack<V> x[kArcs][C] = {};
#pragma unroll
    for (int i = 0; i < kArcs; ++i) j[i] = s.columns[e + i * step];
#pragma unroll
    for (int i = 0; i < kArcs; ++i) {
      values[i] = value(e + i * step, j[i], place.row, key);
#pragma unroll
      for (int k = 0; k < C; ++k) {
        const Index c = column(place, lanes, k);
        if (c < cols) x[i][k] = load_pack<V>(row_of(s.x, j[i]) + c);
      }
    }
#pragma unroll
    for (int i = 0; i < kArcs; ++i) {
      if (s.arc_mask != simd::ArcMask::kNone && values[i] == 0) continue;  // 0 · ∞ would be no number
#pragma unroll
      for (int k = 0; k < C; ++k)
#pragma unroll
        for (int v = 0; v < V; ++v) sum.at[k].at[v] += values[i] * x[i][k].at[v];
    }
  }

  __device__ void add(Sum& sum, Place place, Index first, Index behind, Index step,
                      const Lanes& lanes) const {
    const std::uint64_t key = s.arc_mask == simd::ArcMask::kByRow ? row_key(s.mask, place.row) : 0;
    Index e = first;
    for (; e + 3 * step < behind; e += 4 * step) add_some<4>(sum, place, e, step, lanes, key);
    for (; e < behind; e += step) add_some<1>(sum, place, e, step, lanes, key);
  }

  __device__ void merge(Sum& sum, const Sum& other) const {
    for (int k = 0; k < C; ++k)
      for (int v = 0; v < V; ++v) sum.at[k].at[v] += other.at[k].at[v];
  }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const bool empty = s.offsets[place.row] == s.offsets[place.row + 1];  // its scale may be infinite
    const Real scale = s.row_scale != nullptr && !empty ? s.row_scale[place.row] : Real(1);
    const std::uint64_t key = row_key(s.finish.mask, place.row);
#pragma unroll
    for (int k = 0; k < C; ++k) {
      const Index c = column(place, lanes, k);
      if (c >= cols) continue;
      Real* const to = row_of(s.out, place.row) + c;
      Pack<V> pack = sum.at[k];
      const Pack<V> before = s.accumulate ? load_pack<V>(to) : Pack<V>{};
#pragma unroll
      for (int v = 0; v < V; ++v) {
        pack.at[v] *= scale;
        if (s.accumulate) pack.at[v] += before.at[v];
        if (!s.finish.nothing) pack.at[v] = finished(s.finish, pack.at[v], place.row, c + v, key);
      }
      store_pack<V>(to, pack);
    }
  }
};

/// Columns that are gathered from together: of a wider matrix a slice stays in the second-level cache longer than the whole.
constexpr Index kSlice = 128;

void aggregate(Context& ctx, const CsrView& csr, simd::Spmm s, Index cols) {
  s.offsets = csr.offsets;
  s.columns = csr.columns;
  const simd::Finish whole_rows = s.finish;
  const bool apart = s.finish.layer_norm;  // needs the whole row
  if (apart) s.finish = {};
  const Index width = cols < kSlice ? cols : kSlice;
  const bool fours = in_fours(cols, {{s.x.data, s.x.stride}, {s.out.data, s.out.stride}});
  with_columns(fours, width, [&]<int V, int C>() {
    const int lanes = lanes_for((width + V * C - 1) / (V * C));
    const Index parts = (cols + V * C * lanes - 1) / (V * C * lanes);
    for_arcs(ctx, SumOfRows<V, C>{s, cols}, {csr.rows, parts, false, lanes});
  });
  if (apart) finish_rows(ctx, whole_rows, {s.out.data, s.out.stride}, s.out, csr.rows, cols);
}

}  // namespace

void spmm(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  simd::Spmm s;
  s.weights = a.csr.weights;
  s.row_scale = a.row_scale;
  s.col_scale = a.col_scale;
  s.x = plain(x);
  s.out = plain_out(out);
  s.accumulate = accumulate;
  s.finish = plain(epilogue);
  aggregate(ctx, a.csr, s, out.cols);
}

void sparse_gemm(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                 const Epilogue& epilogue) {
  simd::Spmm s;
  s.weights = x.csr.weights;
  s.mask = plain(dropout);
  if (dropout) s.arc_mask = simd::ArcMask::kByRow;
  s.x = plain(w);
  s.out = plain_out(out);
  s.finish = plain(epilogue);
  aggregate(ctx, x.csr, s, out.cols);
}

void sparse_gemm_at(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView b,
                    MatrixView out, bool accumulate, Index first) {
  CsrView t = x.transpose;
  t.offsets += first;
  t.rows = out.rows;
  simd::Spmm s;
  s.weights = t.weights;
  s.mask = plain(dropout);
  if (dropout) s.arc_mask = simd::ArcMask::kByColumn;
  s.first_row = first;
  s.x = plain(b);
  s.out = plain_out(out);
  s.accumulate = accumulate;
  aggregate(ctx, t, s, out.cols);
}

}  // namespace atl::cuda
