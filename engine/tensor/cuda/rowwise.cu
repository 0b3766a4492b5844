// Operations on the rows of dense matrices: the epilogue alone, dropout, sums, constants, packing of rows.
#include "tensor/cuda/elements.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/stored.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// Calls run.operator()<V, kMixed>() with the widest packs in which `columns` columns of all matrices can be
/// read and written.
template <class F, class... M>
void by_packs(bool mixed, Index columns, const F& run, const M&... matrices) {
  const bool fours = in_packs(4, columns, matrices...);
  if (!mixed) return fours ? run.template operator()<4, false>() : run.template operator()<1, false>();
  if (in_packs(8, columns, matrices...)) return run.template operator()<8, true>();
  return fours ? run.template operator()<4, true>() : run.template operator()<1, true>();
}

/// The finish of each element, V elements at a time.
template <int V, bool kMixed>
void finish_elements(Context& ctx, const simd::Finish& finish, simd::In x, simd::Out y, Index rows,
                     Index cols) {
  for_rows(ctx, rows, cols / V, [=] __device__(Index row, const Lanes& lanes) {
    const std::uint64_t key = row_key(finish.mask, row);
    for (Index c = lanes.lane * V; c < cols; c += lanes.count * V) {
      Pack<V> pack = load_reals<V, kMixed>(x, row, c);
#pragma unroll
      for (int v = 0; v < V; ++v) pack.at[v] = finished<kMixed>(finish, pack.at[v], row, c + v, key);
      store_reals<V, kMixed>(y, row, c, pack);
    }
  });
}

template <bool kMixed>
void finish_with_layer_norm(Context& ctx, const simd::Finish& finish, simd::In x, simd::Out y, Index rows,
                            Index cols) {
  for_rows(ctx, rows, cols, [=] __device__(Index row, const Lanes& lanes) {
    const RowNorm norm = row_norm<kMixed>(x, row, finish.bias, cols, lanes);
    if (finish.row_stats.data != nullptr && lanes.lane == 0) {
      at(finish.row_stats, row, 0) = norm.mean;
      at(finish.row_stats, row, 1) = norm.rstd;
    }
    const std::uint64_t key = row_key(finish.mask, row);
    for (Index c = lanes.lane; c < cols; c += lanes.count) {
      const Real v = value_at<kMixed>(x, row, c);
      put_at<kMixed>(y, row, c, finished<kMixed>(finish, v, row, c, key, norm));
    }
  });
}

template <int V, bool kMixed>
void fill_elements(Context& ctx, Real value, simd::Out out, Index rows, Index cols) {
  for_elements(ctx, rows, cols / V, [=] __device__(Index r, Index pack_of_row) {
    Pack<V> pack;
#pragma unroll
    for (int v = 0; v < V; ++v) pack.at[v] = value;
    store_reals<V, kMixed>(out, r, pack_of_row * V, pack);
  });
}

/// out = a · x + b · out. If b is 0, `out` isn't read. a · x is rounded before b · out is added by fma(), so
/// that packs of all widths give the same bits.
template <int V, bool kMixed>
void add_elements(Context& ctx, Real a, simd::In x, Real b, simd::Out out, Index rows, Index cols) {
  for_elements(ctx, rows, cols / V, [=] __device__(Index r, Index pack_of_row) {
    const Index c = pack_of_row * V;
    Pack<V> pack = load_reals<V, kMixed>(x, r, c);
#pragma unroll
    for (int v = 0; v < V; ++v) pack.at[v] = a * pack.at[v];
    if (b != 0) {
      const Pack<V> old = load_reals<V, kMixed>(out, r, c);
#pragma unroll
      for (int v = 0; v < V; ++v) pack.at[v] = fma(b, old.at[v], pack.at[v]);
    }
    store_reals<V, kMixed>(out, r, c, pack);
  });
}

}  // namespace

void finish_rows(Context& ctx, const simd::Finish& finish, simd::In x, simd::Out y, Index rows, Index cols) {
  const bool mixed = any_halves(x, y, finish.residual);
  if (finish.layer_norm) {
    auto* const how = mixed ? &finish_with_layer_norm<true> : &finish_with_layer_norm<false>;
    return how(ctx, finish, x, y, rows, cols);
  }
  const auto run = [&]<int V, bool kMixed>() { finish_elements<V, kMixed>(ctx, finish, x, y, rows, cols); };
  by_packs(mixed, cols, run, x, y);
}

void apply(Context& ctx, const Epilogue& epilogue, ConstMatrixView x, MatrixView y) {
  const simd::Finish finish = plain(epilogue);
  if (x.address() == y.address() && finish.nothing) return;
  finish_rows(ctx, finish, plain(x), plain_out(y), y.rows, y.cols);
}

void dropout(Context& ctx, const Dropout& d, ConstMatrixView x, MatrixView out) {
  if (!d && x.address() == out.address()) return;
  if (!d) return cuda::axpby(ctx, 1, x, 0, out);
  cuda::apply(ctx, Epilogue{.dropout = d}, x, out);
}

void fill(Context& ctx, Real value, MatrixView out) {
  const simd::Out to = plain_out(out);
  const auto run = [&]<int V, bool kMixed>() {
    fill_elements<V, kMixed>(ctx, value, to, out.rows, out.cols);
  };
  by_packs(any_halves(to), out.cols, run, to);
}

void zero_sums(Context& ctx, std::span<double> sums) {
  double* const to = sums.data();
  for_items(ctx, Index(sums.size()), [=] __device__(Index i) { to[i] = 0; });
}

void axpby(Context& ctx, Real a, ConstMatrixView x, Real b, MatrixView out) {
  const simd::In from = plain(x);
  const simd::Out to = plain_out(out);
  const auto run = [&]<int V, bool kMixed>() {
    add_elements<V, kMixed>(ctx, a, from, b, to, out.rows, out.cols);
  };
  by_packs(any_halves(from, to), out.cols, run, from, to);
}

void scale(Context& ctx, Real factor, MatrixView x) {
  cuda::axpby(ctx, factor, x, 0, x);
}

void scale_rows(Context& ctx, const Real* factors, MatrixView x) {
  for_elements(ctx, x.rows, x.cols,
               [=] __device__(Index r, Index c) { put_at(x, r, c, value_at(x, r, c) * factors[r]); });
}

void gather_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out) {
  for_elements(ctx, out.rows, out.cols,
               [=] __device__(Index r, Index c) { put_at(out, r, c, value_at(x, index[r], c)); });
}

void scatter_add_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out) {
  for_elements(ctx, x.rows, x.cols, [=] __device__(Index r, Index c) {
    put_at(out, index[r], c, value_at(out, index[r], c) + value_at(x, r, c));
  });
}

void scatter_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out) {
  for_elements(ctx, x.rows, x.cols,
               [=] __device__(Index r, Index c) { put_at(out, index[r], c, value_at(x, r, c)); });
}

}  // namespace atl::cuda
