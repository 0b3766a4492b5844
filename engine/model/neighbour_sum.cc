#include "model/neighbour_sum.h"

namespace atl {

NeighbourSum::NeighbourSum(const LayerOptions& options)
    : options_(options), aggregate_first_(!options.packed_input && options.in <= options.out) {}

std::vector<SavedSpec> NeighbourSum::saved() const {
  if (!aggregate_first_) return {};
  return {{"aggregated", SavedSpec::Over::kDestinations, options_.in}};
}

void NeighbourSum::forward(Verbs& verbs, const LayerInput& input, OwnRows& own, ConstMatrixView w,
                           Saved& saved, const Sum& target, const Epilogue& finish, OwnWork own_work) const {
  Context& ctx = verbs.context();
  ATOLL_CHECK(!adds_own() || !target.begun, "the sum begins with the own row, or with something else");
  if (aggregate_first_) {
    MatrixView aggregated = saved.at(0);
    const auto begin = [&] {
      own_work();
      if (!adds_own()) return;
      const auto [self, due] = own.due(input.self, own_dropout(verbs));
      axpby(ctx, options_.own_row, dropped_rows(ctx, self, due, "neighbour_sum.rows"), 0, aggregated);
    };
    sum_over(verbs, input.rows, {aggregated, adds_own()}, begin,
             [&](const Source& s, MatrixView sum, bool accumulate, bool) {
               const auto [source, due] = own.due(s.rows, dropout_of(verbs, s));
               spmm(ctx, arcs_of(*s.block), dropped_rows(ctx, source, due, "neighbour_sum.rows"), sum,
                    accumulate);
             });
    gemm(ctx, aggregated, w, target.out, target.begun, finish);
    return;
  }
  const auto begin = [&] {
    own_work();
    if (!adds_own()) return;
    const auto [self, due] = own.due(input.self, own_dropout(verbs));
    transform(ctx, self, due, w, target.out);
    if (options_.own_row != 1) scale(ctx, options_.own_row, target.out);
  };
  const bool is_finished = sum_over(
      verbs, input.rows, {target.out, target.begun || adds_own()}, begin,
      [&](const Source& s, MatrixView sum, bool accumulate, bool is_whole) {
        MatrixView z = ctx.workspace->matrix("neighbour_sum.z", s.rows.rows(), options_.out, ctx.values);
        const auto [source, due] = own.due(s.rows, dropout_of(verbs, s));
        transform(ctx, source, due, w, z);
        spmm(ctx, arcs_of(*s.block), z, sum, accumulate, is_whole ? finish : Epilogue{});
      });
  if (!is_finished) apply(ctx, finish, target.out, target.out);
}

void NeighbourSum::backward(Verbs& verbs, const LayerInput& input, ConstMatrixView w, Saved& saved,
                            ConstMatrixView d_target, MatrixView scratch, MatrixView d_w,
                            const LayerGradient& gradient, OwnWork own_work) const {
  if (aggregate_first_)
    return backward_aggregated(verbs, input, w, saved, d_target, scratch, d_w, gradient, own_work);
  backward_transformed(verbs, input, w, d_target, scratch, d_w, gradient, own_work);
}

void NeighbourSum::backward_aggregated(Verbs& verbs, const LayerInput& input, ConstMatrixView w, Saved& saved,
                                       ConstMatrixView d_target, MatrixView scratch, MatrixView d_w,
                                       const LayerGradient& gradient, OwnWork own_work) const {
  Context& ctx = verbs.context();
  const auto weights = [&] {
    own_work();
    gemm_at(ctx, saved.at(0), {}, d_target, d_w, true);
  };
  if (gradient.rows.cols == 0) return weights();
  const MatrixView d_aggregated = scratch.repacked(options_.in);  // in ≤ out
  gemm_bt(ctx, d_target, w, d_aggregated);
  sum_back(
      verbs, input.rows, d_aggregated, gradient.rows, weights, [&](const Source& s, ConstMatrixView d_sum) {
        if (s.d_rows.cols > 0)
          spmm(ctx, transposed_arcs_of(*s.block), d_sum, s.d_rows, false, {.dropout = dropout_of(verbs, s)});
      });
  if (!adds_own()) return;
  if (const Dropout mask = own_dropout(verbs)) dropout(ctx, mask, d_aggregated, d_aggregated);
  axpby(ctx, options_.own_row, d_aggregated, 1, gradient.self);
}

void NeighbourSum::backward_transformed(Verbs& verbs, const LayerInput& input, ConstMatrixView w,
                                        ConstMatrixView d_target, MatrixView scratch, MatrixView d_w,
                                        const LayerGradient& gradient, OwnWork own_work) const {
  Context& ctx = verbs.context();
  const MatrixView d_own = scratch;
  const auto own = [&] {
    own_work();
    if (!adds_own()) return;
    axpby(ctx, options_.own_row, d_target, 0, d_own);
    weight_backward(ctx, input.self, own_dropout(verbs), d_own, d_w);
  };
  sum_back(verbs, input.rows, d_target, gradient.rows, own, [&](const Source& s, ConstMatrixView d_sum) {
    MatrixView d_z = ctx.workspace->matrix("neighbour_sum.z", s.rows.rows(), options_.out, ctx.values);
    spmm(ctx, transposed_arcs_of(*s.block), d_sum, d_z);
    const Dropout dropout = dropout_of(verbs, s);
    weight_backward(ctx, s.rows, dropout, d_z, d_w);
    if (s.d_rows.cols > 0) rows_backward(ctx, dropout, w, d_z, s.d_rows);
  });
  if (adds_own() && gradient.self.cols > 0)
    rows_backward(ctx, own_dropout(verbs), w, d_own, gradient.self, true);
}

}  // namespace atl
