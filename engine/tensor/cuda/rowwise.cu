// Operations on the rows of dense matrices: the epilogue on its own, dropout, constants, packing of rows.
#include "tensor/cuda/elements.h"
#include "tensor/cuda/finish.h"
#include "tensor/cuda/stored.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

/// The finish of each element, V at a time.
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

}  // namespace

void finish_rows(Context& ctx, const simd::Finish& finish, simd::In x, simd::Out y, Index rows, Index cols) {
  const bool mixed = any_halves(x, y, finish.residual), fours = in_packs(4, cols, x, y);
  const auto run = [&](auto* how) { how(ctx, finish, x, y, rows, cols); };
  if (finish.layer_norm) return run(mixed ? &finish_with_layer_norm<true> : &finish_with_layer_norm<false>);
  if (!mixed) return run(fours ? &finish_elements<4, false> : &finish_elements<1, false>);
  if (in_packs(8, cols, x, y)) return run(&finish_elements<8, true>);
  run(fours ? &finish_elements<4, true> : &finish_elements<1, true>);
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
  for_elements(ctx, out.rows, out.cols, [=] __device__(Index r, Index c) { put_at(out, r, c, value); });
}

void zero_sums(Context& ctx, std::span<double> sums) {
  double* const to = sums.data();
  for_items(ctx, Index(sums.size()), [=] __device__(Index i) { to[i] = 0; });
}

void axpby(Context& ctx, Real a, ConstMatrixView x, Real b, MatrixView out) {
  for_elements(ctx, out.rows, out.cols, [=] __device__(Index r, Index c) {
    const Real of_x = a * value_at(x, r, c);
    put_at(out, r, c, b == 0 ? of_x : of_x + b * value_at(out, r, c));
  });
}

void scale(Context& ctx, Real factor, MatrixView x) {
  for_elements(ctx, x.rows, x.cols,
               [=] __device__(Index r, Index c) { put_at(x, r, c, factor * value_at(x, r, c)); });
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
