// Sums over neighbours, and products with features kept as CSR, which are the same sums with a value per arc.
#include "tensor/cuda/slices.h"
#include "tensor/cuda/sum_of_rows.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

constexpr int kFewestLanes = 4;  // 2^4 of a group: rows side by side in a warp wait for the longest

template <int V>
void sum_up(Context& ctx, const CsrView& csr, const simd::Spmm& s, Index cols) {
  const bool any = s.weights != nullptr || s.arc_mask != simd::ArcMask::kNone;
  with_slice<V>(slice_of(ctx, csr, s.x, cols), [&]<int W, int C>(int columns) {
    const int log = columns < kFewestLanes ? kFewestLanes : columns;
    const ArcShape shape{csr.rows, blocks_for(cols, Index(W) * C << columns), false, log, csr.cols};
    constexpr int kMost = C == 1 ? 8 : 4, kRoom = C > 2 ? 8 : 14, kRoomForAny = C > 2 ? 6 : 9;
    if (any) return for_arcs(ctx, SumOfRows<W, C, Values::kAny, kMost, kRoomForAny>{s, cols, columns}, shape);
    if (s.col_scale != nullptr)
      return for_arcs(ctx, SumOfRows<W, C, Values::kScale, kMost, kRoom>{s, cols, columns}, shape);
    for_arcs(ctx, SumOfRows<W, C, Values::kNone, kMost, kRoom>{s, cols, columns}, shape);
  });
}

void aggregate(Context& ctx, const CsrView& csr, simd::Spmm s, Index cols) {
  s.offsets = csr.offsets;
  s.columns = csr.columns;
  const simd::Finish whole_rows = s.finish;
  const bool apart = s.finish.layer_norm;  // needs the whole row
  if (apart) s.finish = {};
  const bool fours = in_fours(cols, {{s.x.data, s.x.stride}, {s.out.data, s.out.stride}});
  if (fours) sum_up<4>(ctx, csr, s, cols);
  if (!fours) sum_up<1>(ctx, csr, s, cols);
  if (apart) finish_rows(ctx, whole_rows, {s.out.data, s.out.stride}, s.out, csr.rows, cols);
}

}  // namespace
void spmm(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  aggregate(ctx, a.csr, sum_of_rows(a, x, out, accumulate, epilogue), out.cols);
}

void sparse_gemm(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                 const Epilogue& epilogue) {
  aggregate(ctx, x.csr, sum_of_values(x, dropout, w, out, epilogue), out.cols);
}

void sparse_gemm_at(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView b,
                    MatrixView out, bool accumulate, Index first) {
  aggregate(ctx, transposed_rows(x, first, out.rows), sum_of_transpose(x, dropout, b, out, accumulate, first),
            out.cols);
}

}  // namespace atl::cuda
