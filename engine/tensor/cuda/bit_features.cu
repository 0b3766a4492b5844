// Input features kept as bits: sums a row over the set bits of its words.
#include "tensor/cuda/arc_rows.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/packs.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// out[r, c] (+)= row_scale[r] Σ_i bit(r, i) · inner_scale[i] · x[i, c], then the finish. A row's words take
/// the place of arcs.
template <int V, int C>
struct SumOfBits {
  simd::BitProduct p;
  Index words;      // per row
  int columns_log;  // log₂ of the lanes of a group

  using Sum = Columns<V, C>;

  __device__ Index first_of(Index row) const { return row * words; }
  __device__ Sum begin() const {
    Sum sum;
    sum.clear();
    return sum;
  }

  __device__ void add(Sum& sum, Place place, Index first, Index stop, const Lanes& lanes) const {
    for (Index w = first; w < stop; ++w) {
      const Index inner = (w - first_of(place.row)) * 32;
      for (std::uint32_t word = p.words[w]; word != 0; word &= word - 1) {
        const Index i = inner + __ffs(int(word)) - 1;
        Sum x{};
        x.load(row_of(p.x, i), p.cols, place.part, Ways(lanes, columns_log));
        sum.add(x, p.inner_scale != nullptr ? p.inner_scale[i] : Real(1));
      }
    }
  }

  __device__ void merge(Sum& sum, const Sum& later) const { sum.add(later, 1); }

  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    if (p.row_scale != nullptr) sum.scale(p.row_scale[place.row]);
    const std::uint64_t key = row_key(p.finish.mask, place.row);
    for (int k = 0; k < C; ++k) {
      const Index c = Sum::column(place.part, Ways(lanes, columns_log), k);
      if (c >= p.cols) continue;
      Real* const to = row_of(p.out, place.row) + c;
      Pack<V> pack = sum.at[k];
      for (int v = 0; v < V; ++v) {
        if (p.accumulate) pack.at[v] += to[v];
        if (!p.finish.nothing) pack.at[v] = finished(p.finish, pack.at[v], place.row, c + v, key);
      }
      store_pack<V>(to, pack);
    }
  }
};

void product(Context& ctx, simd::BitProduct p, Index rows) {
  const simd::Finish whole_rows = p.finish;
  const bool apart = p.finish.layer_norm;  // needs the whole row
  if (apart) p.finish = {};
  const bool fours = in_packs(4, p.cols, p.x, p.out);
  with_columns(fours, p.cols < 128 ? p.cols : 128, [&]<int V, int C>(int log, int) {
    const Index parts = blocks_for(p.cols, Index(V) * C << log);
    for_arcs(ctx, SumOfBits<V, C>{p, BitView::words_of(p.inner), log}, {rows, parts, false, log, p.inner});
  });
  if (apart) finish_rows(ctx, whole_rows, {p.out.data, p.out.stride}, p.out, rows, p.cols);
}

}  // namespace

void bit_gemm(Context& ctx, const BitRows& x, ConstMatrixView w, MatrixView out, bool accumulate,
              const Epilogue& epilogue) {
  product(ctx, product_of_bits(x, w, out, accumulate, epilogue), out.rows);
}

void bit_gemm_at(Context& ctx, const BitRows& x, ConstMatrixView b, MatrixView out, bool accumulate,
                 Index first) {
  product(ctx, product_of_transpose(x, b, out, accumulate, first), out.rows);
}

}  // namespace atl::cuda
