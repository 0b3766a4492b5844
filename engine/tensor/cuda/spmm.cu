// Sums over neighbours, and products with features kept as CSR, which are the same sums with a value per arc.
#include "tensor/cuda/arc_rows.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/packs.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// out[i, c] (+)= row_scale[i] Σ_e value(e) · x[columns[e], c], then the finish, for columns of a slice. A group reads its arcs' sources
/// and values side by side, one a lane, and then goes over the arcs together.
template <int V, int C, bool kValues>
struct SumOfRows {
  simd::Spmm s;
  Index cols;

  using Sum = Columns<V, C>;

  __device__ Index first_of(Index row) const { return s.offsets[row]; }
  __device__ Sum begin() const {
    Sum sum;
    sum.clear();
    return sum;
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

  /// Lanes i … i + kArcs − 1 have the arcs. Their rows are all on their way before the first is used.
  template <int kArcs>
  __device__ void add_some(Sum& sum, Index slice, VertexId j, Real value, int i, const Lanes& lanes) const {
    Sum x[kArcs] = {};
    Real values[kArcs];
#pragma unroll
    for (int a = 0; a < kArcs; ++a) {
      x[a].load(row_of(s.x, lanes.from(i + a, j)), cols, slice, lanes);
      values[a] = kValues ? lanes.from(i + a, value) : Real(1);
    }
#pragma unroll
    for (int a = 0; a < kArcs; ++a)
      if (!kValues || values[a] != 0) sum.add(x[a], values[a]);  // what is dropped may be infinite
  }

  __device__ void add(Sum& sum, Place place, Index first, Index behind, const Lanes& lanes) const {
    constexpr int kArcs = C == 1 ? 8 : 4;
    const std::uint64_t key = s.arc_mask == simd::ArcMask::kByRow ? row_key(s.mask, place.row) : 0;
    for (Index batch = first; batch < behind; batch += lanes.count) {
      const Index e = batch + lanes.lane;
      const VertexId j = e < behind ? s.columns[e] : 0;
      const Real mine = kValues && e < behind ? value(e, j, place.row, key) : Real(0);
      const int arcs = behind - batch < lanes.count ? int(behind - batch) : lanes.count;
      int i = 0;
      for (; i + kArcs <= arcs; i += kArcs) add_some<kArcs>(sum, place.part, j, mine, i, lanes);
      for (; i + 2 <= arcs; i += 2) add_some<2>(sum, place.part, j, mine, i, lanes);
      if (i < arcs) add_some<1>(sum, place.part, j, mine, i, lanes);
    }
  }

  __device__ void merge(Sum& sum, const Sum& later) const { sum.add(later, 1); }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const bool empty = first_of(place.row) == first_of(place.row + 1);  // its scale may be infinite
    if (s.row_scale != nullptr && !empty) sum.scale(s.row_scale[place.row]);
    const std::uint64_t key = row_key(s.finish.mask, place.row);
#pragma unroll
    for (int k = 0; k < C; ++k) {
      const Index c = Sum::column(place.part, lanes, k);
      if (c >= cols) continue;
      Real* const to = row_of(s.out, place.row) + c;
      Pack<V> pack = sum.at[k];
      const Pack<V> before = s.accumulate ? load_pack<V>(to) : Pack<V>{};
#pragma unroll
      for (int v = 0; v < V; ++v) {
        pack.at[v] += before.at[v];
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
  const bool values = s.weights != nullptr || s.col_scale != nullptr || s.arc_mask != simd::ArcMask::kNone;
  const bool fours = in_fours(cols, {{s.x.data, s.x.stride}, {s.out.data, s.out.stride}});
  with_columns(fours, cols < kSlice ? cols : kSlice, [&]<int V, int C>(int lanes, int) {
    const ArcShape shape{csr.rows, blocks_for(cols, Index(V) * C * lanes), false, lanes, csr.cols};
    if (values) return for_arcs(ctx, SumOfRows<V, C, true>{s, cols}, shape);
    for_arcs(ctx, SumOfRows<V, C, false>{s, cols}, shape);
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
