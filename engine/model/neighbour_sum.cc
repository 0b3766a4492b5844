#include "model/neighbour_sum.h"

namespace atl {

NeighbourSum::NeighbourSum(const LayerOptions& options)
    : options_(options), aggregate_first_(!options.packed_input && options.in <= options.out) {}

std::vector<SavedSpec> NeighbourSum::saved() const {
  if (!aggregate_first_) return {};
  return {{"aggregated", SavedSpec::Over::kDestinations, options_.in}};
}

void NeighbourSum::forward(Verbs& verbs, const Rows& rows, OwnRows& own, ConstMatrixView w, Saved& saved,
                           const Sum& target, const Epilogue& finish, OwnWork own_work) const {
  Context& ctx = verbs.context();
  if (aggregate_first_) {
    MatrixView aggregated = saved.at(0);
    sum_over(
        verbs, rows, {aggregated}, own_work, [&](const Source& s, MatrixView sum, bool accumulate, bool) {
          const auto [source, due] = own.due(s.rows, dropout_of(verbs, s));
          spmm(ctx, arcs_of(*s.block), dropped_rows(ctx, source, due, "neighbour_sum.rows"), sum, accumulate);
        });
    gemm(ctx, aggregated, w, target.out, target.begun, finish);
    return;
  }
  const bool is_finished = sum_over(
      verbs, rows, target, own_work, [&](const Source& s, MatrixView sum, bool accumulate, bool is_whole) {
        MatrixView z = ctx.workspace->matrix("neighbour_sum.z", s.rows.rows(), options_.out);
        const auto [source, due] = own.due(s.rows, dropout_of(verbs, s));
        transform(ctx, source, due, w, z);
        spmm(ctx, arcs_of(*s.block), z, sum, accumulate, is_whole ? finish : Epilogue{});
      });
  if (!is_finished) apply(ctx, finish, target.out);
}

void NeighbourSum::backward(Verbs& verbs, const Rows& rows, ConstMatrixView w, Saved& saved,
                            ConstMatrixView d_target, MatrixView scratch, MatrixView d_w, MatrixView d_rows,
                            OwnWork own_work) const {
  Context& ctx = verbs.context();
  if (!aggregate_first_) {
    sum_back(verbs, rows, d_target, d_rows, own_work, [&](const Source& s, ConstMatrixView d_sum) {
      MatrixView d_z = ctx.workspace->matrix("neighbour_sum.z", s.rows.rows(), options_.out);
      spmm(ctx, transposed_arcs_of(*s.block), d_sum, d_z);
      const Dropout dropout = dropout_of(verbs, s);
      weight_backward(ctx, s.rows, dropout, d_z, d_w);
      if (s.d_rows.cols > 0) rows_backward(ctx, dropout, w, d_z, s.d_rows);
    });
    return;
  }
  const auto weights = [&] {
    own_work();
    gemm_at(ctx, saved.at(0), d_target, d_w, true);
  };
  if (d_rows.cols == 0) return weights();
  MatrixView d_aggregated(scratch.data, scratch.rows, options_.in);  // in ≤ out
  gemm_bt(ctx, d_target, w, d_aggregated);
  sum_back(verbs, rows, d_aggregated, d_rows, weights, [&](const Source& s, ConstMatrixView d_sum) {
    if (s.d_rows.cols > 0)
      spmm(ctx, transposed_arcs_of(*s.block), d_sum, s.d_rows, false, dropout_of(verbs, s));
  });
}

}  // namespace atl
