#include "model/neighbour_sum.h"

namespace atl {

NeighbourSum::NeighbourSum(const LayerOptions& options)
    : options_(options), aggregate_first_(!options.packed_input && options.in <= options.out) {}

std::vector<SavedSpec> NeighbourSum::saved() const {
  if (!aggregate_first_) return {};
  return {{"aggregated", SavedSpec::Over::kDestinations, options_.in}};
}

void NeighbourSum::forward(Verbs& verbs, const Rows& rows, OwnRows& own, ConstMatrixView w, Saved& saved,
                           MatrixView target, const Epilogue& finish,
                           const FunctionRef<void()>* begin) const {
  Context& ctx = verbs.context();
  if (aggregate_first_) {
    MatrixView aggregated = saved.at(0);
    verbs.gather_sum(
        rows, {aggregated, nullptr, begin}, [&](const Source& s, MatrixView sum, bool accumulate) {
          const auto [source, due] = own.due(s.rows, dropout_of(verbs, s));
          spmm(ctx, arcs_of(*s.block), dropped_rows(ctx, source, due, "neighbour_sum.rows"), sum, accumulate);
        });
    gemm(ctx, aggregated, w, target, begin != nullptr, finish);
    return;
  }
  verbs.gather_sum(rows, {target, begin}, [&](const Source& s, MatrixView sum, bool accumulate) {
    MatrixView z = ctx.workspace->matrix("neighbour_sum.z", s.rows.rows(), options_.out);
    const auto [source, due] = own.due(s.rows, dropout_of(verbs, s));
    transform(ctx, source, due, w, z);
    spmm(ctx, arcs_of(*s.block), z, sum, accumulate);
  });
  apply(ctx, finish, target);
}

void NeighbourSum::backward(Verbs& verbs, const Rows& rows, ConstMatrixView w, Saved& saved,
                            ConstMatrixView d_target, MatrixView scratch, MatrixView d_w, MatrixView d_rows,
                            const FunctionRef<void()>* meanwhile) const {
  Context& ctx = verbs.context();
  if (!aggregate_first_) {
    verbs.gather_sum_backward(
        rows, {d_target, meanwhile},
        [&](const Source& s, ConstMatrixView d_sum, MatrixView d_block) {
          MatrixView d_z = ctx.workspace->matrix("neighbour_sum.z", s.rows.rows(), options_.out);
          spmm(ctx, transposed_arcs_of(*s.block), d_sum, d_z);
          const Dropout dropout = dropout_of(verbs, s);
          weight_backward(ctx, s.rows, dropout, d_z, d_w);
          if (d_block.cols > 0) rows_backward(ctx, dropout, w, d_z, d_block);
        },
        d_rows);
    return;
  }
  const auto weight = [&] {
    if (meanwhile != nullptr) (*meanwhile)();
    gemm_at(ctx, saved.at(0), d_target, d_w, true);
  };
  if (d_rows.cols == 0) return weight();
  const FunctionRef<void()> weights(weight);
  MatrixView d_aggregated(scratch.data, scratch.rows, options_.in);  // in ≤ out
  gemm_bt(ctx, d_target, w, d_aggregated);
  verbs.gather_sum_backward(
      rows, {d_aggregated, &weights},
      [&](const Source& s, ConstMatrixView d_sum, MatrixView d_block) {
        if (d_block.cols == 0) return;
        spmm(ctx, transposed_arcs_of(*s.block), d_sum, d_block, false, dropout_of(verbs, s));
      },
      d_rows);
}

}  // namespace atl
