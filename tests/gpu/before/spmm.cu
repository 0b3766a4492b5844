// Sums over neighbours, and products with features kept as CSR, which are the same sums with a value per arc.
#include "before/arc_rows.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/packs.h"
#include "tensor/cuda/table.h"

namespace atl::cuda::before {
namespace {

/// What arcs multiply with: nothing, a number per source, or whatever Spmm says.
enum class Values { kNone, kScale, kAny };

/// out[i, c] (+)= row_scale[i] Σ_e value(e) · x[columns[e], c], then the finish, for columns of a slice.
template <int V, int C, Values kValues>
struct SumOfRows {
  simd::Spmm s;
  Index cols;
  int columns_log;  // of the lanes that have a row's columns

  using Sum = Columns<V, C>;

  __device__ Index first_of(Index row) const { return s.offsets[row]; }
  __device__ Sum begin() const {
    Sum sum;
    sum.clear();
    return sum;
  }

  __device__ Real after_dropout(Real value, VertexId j, Index row, std::uint64_t key) const {
    if (s.arc_mask == simd::ArcMask::kByRow) return masked(value, key, j, s.mask);
    if (s.arc_mask == simd::ArcMask::kByColumn)
      return masked(value, row_key(s.mask, j), s.first_row + row, s.mask);
    return value;
  }

  /// Arcs e, e + step, …: their rows are all on their way before the first is used. Behind the last there is nothing.
  template <int kArcs, bool kWhole>
  __device__ void add_some(Sum& sum, Place place, Index e, Index step, Index behind, std::uint64_t key,
                           const Ways& ways) const {
    VertexId j[kArcs];
    Real scales[kArcs], weights[kArcs];
    Sum x[kArcs] = {};
#pragma unroll
    for (int a = 0; a < kArcs; ++a) j[a] = kWhole || e + a * step < behind ? s.columns[e + a * step] : -1;
#pragma unroll
    for (int a = 0; a < kArcs; ++a) {  // nothing is computed with what is read before all is asked for
      scales[a] = weights[a] = 1;
      if (!kWhole && j[a] < 0) continue;
      x[a].load(row_of(s.x, j[a]), cols, place.part, ways);
      if (kValues == Values::kScale) scales[a] = s.col_scale[j[a]];
      if (kValues != Values::kAny) continue;
      if (s.col_scale != nullptr) scales[a] = s.col_scale[j[a]];
      if (s.weights != nullptr) weights[a] = Real(s.weights[e + a * step]);
    }
#pragma unroll
    for (int a = 0; a < kArcs; ++a) {
      if (!kWhole && j[a] < 0) continue;
      if constexpr (kValues == Values::kAny) {
        const Real value = after_dropout(weights[a] * scales[a], j[a], place.row, key);
        if (value != 0) sum.add(x[a], value);  // what is dropped may be infinite
      } else {
        sum.add(x[a], scales[a]);
      }
    }
  }

  __device__ void add(Sum& sum, Place place, Index first, Index behind, const Lanes& lanes) const {
    constexpr int kMost = C == 1 ? 8 : 4;
    const Ways ways(lanes, columns_log);
    const Index step = ways.count;
    const std::uint64_t key = s.arc_mask == simd::ArcMask::kByRow ? row_key(s.mask, place.row) : 0;
    Index e = first + ways.way;
    for (; e + (kMost - 1) * step < behind; e += kMost * step)
      add_some<kMost, true>(sum, place, e, step, behind, key, ways);
    if (e + 3 * step < behind) {
      add_some<4, true>(sum, place, e, step, behind, key, ways);
      e += 4 * step;
    }
    if (e < behind) add_some<3, false>(sum, place, e, step, behind, key, ways);
  }

  __device__ void merge(Sum& sum, const Sum& later) const {
    sum.add(later, 1);
  }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Ways ways(lanes, columns_log);
    sum.join(lanes, ways);
    if (ways.way > 0) return;
    const bool empty = first_of(place.row) == first_of(place.row + 1);  // its scale may be infinite
    if (s.row_scale != nullptr && !empty) sum.scale(s.row_scale[place.row]);
    const std::uint64_t key = row_key(s.finish.mask, place.row);
#pragma unroll
    for (int k = 0; k < C; ++k) {
      const Index c = Sum::column(place.part, ways, k);
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
constexpr int kFewestLanes = 4;  // 2^4 of a group: rows side by side in a warp wait for the longest

void aggregate(Context& ctx, const CsrView& csr, simd::Spmm s, Index cols) {
  s.offsets = csr.offsets;
  s.columns = csr.columns;
  const simd::Finish whole_rows = s.finish;
  const bool apart = s.finish.layer_norm;  // needs the whole row
  if (apart) s.finish = {};
  const bool any = s.weights != nullptr || s.arc_mask != simd::ArcMask::kNone;
  const bool fours = in_fours(cols, {{s.x.data, s.x.stride}, {s.out.data, s.out.stride}});
  with_columns(fours, cols < kSlice ? cols : kSlice, [&]<int V, int C>(int columns, int) {
    const int log = columns < kFewestLanes ? kFewestLanes : columns;
    const ArcShape shape{csr.rows, blocks_for(cols, Index(V) * C << columns), false, log, csr.cols};
    if (any) return for_arcs(ctx, SumOfRows<V, C, Values::kAny>{s, cols, columns}, shape);
    if (s.col_scale != nullptr)
      return for_arcs(ctx, SumOfRows<V, C, Values::kScale>{s, cols, columns}, shape);
    for_arcs(ctx, SumOfRows<V, C, Values::kNone>{s, cols, columns}, shape);
  });
  if (apart) finish_rows(ctx, whole_rows, {s.out.data, s.out.stride}, s.out, csr.rows, cols);
}

}  // namespace
void spmm(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  aggregate(ctx, a.csr, sum_of_rows(a, x, out, accumulate, epilogue), out.cols);
}

}  // namespace atl::cuda::before
