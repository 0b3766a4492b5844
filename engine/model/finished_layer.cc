#include "model/finished_layer.h"

#include "model/transform.h"

namespace atl {
namespace {

RowFinish finish_of(const LayerOptions& o, const LayerSpec& product) {
  RowFinish::Options finish = o.finish;
  finish.cols = o.out;
  return {finish, int(product.parameters.size()), int(product.saved.size())};
}

LayerSpec finished(const LayerOptions& o, LayerSpec product, const RowFinish& finish) {
  product.in = o.in;
  product.out = o.out;
  finish.declare(product.parameters);
  finish.declare(product.saved);
  product.boundary = finish.boundary();
  return product;
}

/// The products that a sum over neighbours adds up, and in backward their gradients.
constexpr ScratchKey kProductRows;

/// The rows that a skip connection adds, or nothing.
ConstMatrixView residual_of(const LayerOptions& o, const LayerInput& input) {
  return o.skip ? input.self.dense : ConstMatrixView();
}

}  // namespace

FinishedLayer::FinishedLayer(const LayerOptions& options, const LayerSpec& product)
    : FinishedLayer(options, product, finish_of(options, product)) {}

FinishedLayer::FinishedLayer(const LayerOptions& options, const LayerSpec& product, const RowFinish& finish)
    : Layer(finished(options, product, finish)), options_(options), dropout_(options), finish_(finish) {}

void FinishedLayer::forward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                            MatrixView out) const {
  if (verbs.state().columns != nullptr) {
    forward_columns(verbs, weights, input, saved);
    return forward_whole(verbs, weights, saved, out);
  }
  const ConstMatrixView residual = residual_of(options_, input);
  multiply(verbs, weights, input, saved, finish_.target(saved, out), finish_.fused(verbs, weights, residual));
  finish_.forward(verbs, weights, saved, out, residual);
}

void FinishedLayer::forward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                                    Saved& saved) const {
  Columns& columns = *verbs.state().columns;
  const MatrixView summands = columns.summands(options_.out);
  multiply(verbs, weights, input, saved, summands, {});
  columns.begin_whole(summands, Rounding::kByWire);
}

/// Ranks share the columns of features alone, and the layers that read features have no skip connection.
void FinishedLayer::forward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved,
                                  MatrixView out) const {
  ATOLL_CHECK(!options_.skip, "{} skips an input that isn't whole", spec().name);
  const MatrixView target = finish_.target(saved, out);
  const Epilogue fused = finish_.fused(verbs, weights);
  end_sum(verbs.context(), *verbs.state().columns, target);
  apply(verbs.context(), fused, target, target);
  finish_.forward(verbs, weights, saved, out);
}

void FinishedLayer::backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                             MatrixView out, MatrixView d_out, const LayerGradient& gradient) const {
  ATOLL_CHECK(verbs.state().columns == nullptr, "{}: backward by columns is in two parts", spec().name);
  Context& ctx = verbs.context();
  // The residual's gradient is added last: multiply_backward() writes gradient.self, perhaps in the memory of
  // d_out.
  static constexpr ScratchKey kResidual;
  MatrixView d_residual;
  if (options_.skip) {
    d_residual = ctx.workspace->matrix(kResidual, d_out.rows, d_out.cols, ctx.values);
    fill(ctx, 0, d_residual);
  }
  finish_.backward(verbs, weights, saved, out, d_out, d_residual);
  multiply_backward(verbs, weights, input, saved, d_out, out, gradient);
  if (options_.skip && gradient.self.cols > 0) axpby(ctx, 1, d_residual, 1, gradient.self);
}

void FinishedLayer::backward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
                                   MatrixView d_out) const {
  finish_.backward(verbs, weights, saved, out, d_out);
  begin_spread(verbs.context(), *verbs.state().columns, d_out, Rounding::kByWire);
}

void FinishedLayer::backward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                                     Saved& saved, const LayerGradient& gradient) const {
  Context& ctx = verbs.context();
  const MatrixView d_summands = verbs.state().columns->end_spread();
  static constexpr ScratchKey kSummands;
  const MatrixView scratch = ctx.workspace->matrix(kSummands, d_summands.rows, d_summands.cols, ctx.values);
  multiply_backward(verbs, weights, input, saved, d_summands, scratch, gradient);
}

void FinishedLayer::weight_backward_in_parts(Context& ctx, const Rows& rows, const Dropout& dropout,
                                             ConstMatrixView d_out, const LayerWeights& weights, int begin,
                                             int end) const {
  const ParameterSpec& weight = spec().parameters.front();
  for (int part = begin; part < end; ++part) {
    const Index first = weight.part_begin(part);
    weight_backward(ctx, rows, dropout, d_out, weights.gradient(0).slice_rows(first, weight.part_rows(part)),
                    first);
    weights.part_is_done(part);
  }
}

Dropout InputDropout::of_all(Verbs& verbs, std::span<const VertexId> ids) const {
  return verbs.input_dropout(options_.dropout, options_.dropout_purpose, options_.index, ids);
}

Dropout InputDropout::of_gradient(Verbs& verbs, std::span<const VertexId> ids, bool own) const {
  Dropout d = of_all(verbs, ids);
  if (own && options_.own_dropped) d.end = verbs.state().boundary;
  return d;
}

NeighbourSum::NeighbourSum(const LayerOptions& options)
    : options_(options), dropout_(options), order_(order_of(options)) {}

NeighbourSum::Order NeighbourSum::order_of(const LayerOptions& o) {
  if (!o.packed_input && o.in <= o.out) return Order::kAggregateFirst;
  return o.sends_products && !o.fixed_input ? Order::kSendProducts : Order::kMultiplySources;
}

std::vector<SavedSpec> NeighbourSum::saved() const {
  if (!aggregates_first()) return {};
  return {{"aggregated", SavedSpec::Over::kDestinations, options_.in}};
}

void NeighbourSum::forward(Verbs& verbs, const LayerInput& input, OwnRows& own, ConstMatrixView w,
                           Saved& saved, const Sum& target, const Epilogue& finish, OwnWork own_work) const {
  static constexpr ScratchKey kDropped;
  Context& ctx = verbs.context();
  ATOLL_CHECK(!adds_own() || !target.begun, "the sum begins with the own row, or with something else");
  if (aggregates_first()) {
    MatrixView aggregated = saved.at(0);
    const auto begin = [&] {
      own_work();
      if (!adds_own()) return;
      const auto [self, due] = own.due(input.self, dropout_.of_self(verbs));
      axpby(ctx, options_.own_row, dropped_rows(ctx, self, due, kDropped), 0, aggregated);
    };
    sum_over(verbs, input.rows, {aggregated, adds_own()}, begin,
             [&](const Source& s, MatrixView sum, bool accumulate, bool) {
               const auto [source, due] = own.due(s.rows, dropout_.of(verbs, s));
               spmm(ctx, arcs_of(*s.block), dropped_rows(ctx, source, due, kDropped), sum, accumulate);
             });
    gemm(ctx, aggregated, w, target.out, target.begun, finish);
    return;
  }
  const auto begin = [&] {
    own_work();
    if (!adds_own()) return;
    const auto [self, due] = own.due(input.self, dropout_.of_self(verbs));
    transform(ctx, self, due, w, target.out);
    if (options_.own_row != 1) scale(ctx, options_.own_row, target.out);
  };
  const Sum sum{target.out, target.begun || adds_own()};
  if (sends_products()) {
    if (!sum_products(verbs, input, own, w, sum, finish, begin)) apply(ctx, finish, target.out, target.out);
    return;
  }
  const bool is_finished = sum_over(
      verbs, input.rows, sum, begin, [&](const Source& s, MatrixView into, bool accumulate, bool is_whole) {
        MatrixView z = ctx.workspace->matrix(kProductRows, s.rows.rows(), options_.out, ctx.values);
        const auto [source, due] = own.due(s.rows, dropout_.of(verbs, s));
        transform(ctx, source, due, w, z);
        spmm(ctx, arcs_of(*s.block), z, into, accumulate, is_whole ? finish : Epilogue{});
      });
  if (!is_finished) apply(ctx, finish, target.out, target.out);
}

bool NeighbourSum::sum_products(Verbs& verbs, const LayerInput& input, OwnRows& own, ConstMatrixView w,
                                const Sum& sum, const Epilogue& finish, OwnWork begin) const {
  Context& ctx = verbs.context();
  const auto [rows, due] = own.due(input.rows, dropout_.of_self(verbs));
  const ExchangedProducts products(verbs, rows, due, w);
  const MatrixView z = ctx.workspace->matrix(kProductRows, rows.rows(), options_.out, ctx.values);
  products.multiply_boundary(z);
  const auto rest = [&] {
    products.multiply_rest(z);
    begin();
  };
  return sum_over(verbs, z, sum, rest, [&](const Source& s, MatrixView into, bool accumulate, bool is_whole) {
    spmm(ctx, arcs_of(*s.block), s.rows.dense, into, accumulate, is_whole ? finish : Epilogue{});
  });
}

void NeighbourSum::backward(Verbs& verbs, const LayerInput& input, ConstMatrixView w, Saved& saved,
                            ConstMatrixView d_target, MatrixView scratch, MatrixView d_w,
                            const LayerGradient& gradient, OwnWork own_work) const {
  if (aggregates_first())
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
  // in ≤ out, so scratch has room.
  const MatrixView d_aggregated = scratch.repacked(options_.in);
  gemm_bt(ctx, d_target, w, d_aggregated);
  sum_back(verbs, input.rows, d_aggregated, gradient.rows, weights,
           [&](const Source& s, ConstMatrixView d_sum) {
             if (s.d_rows.cols > 0)
               spmm(ctx, transposed_arcs_of(*s.block), d_sum, s.d_rows, false,
                    {.dropout = dropout_.of_gradient(verbs, s)});
           });
  if (!adds_own()) return;
  if (const Dropout mask = dropout_.of_own_gradient(verbs)) dropout(ctx, mask, d_aggregated, d_aggregated);
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
    weight_backward(ctx, input.self, dropout_.of_self(verbs), d_own, d_w);
  };
  if (sends_products()) {
    backward_products(verbs, input, w, d_target, d_w, gradient.rows, own);
    if (adds_own()) rows_backward(ctx, dropout_.of_own_gradient(verbs), w, d_own, gradient.self, true);
    return;
  }
  sum_back(verbs, input.rows, d_target, gradient.rows, own, [&](const Source& s, ConstMatrixView d_sum) {
    MatrixView d_z = ctx.workspace->matrix(kProductRows, s.rows.rows(), options_.out, ctx.values);
    spmm(ctx, transposed_arcs_of(*s.block), d_sum, d_z);
    weight_backward(ctx, s.rows, dropout_.of(verbs, s), d_z, d_w);
    if (s.d_rows.cols > 0) rows_backward(ctx, dropout_.of_gradient(verbs, s), w, d_z, s.d_rows);
  });
  if (adds_own() && gradient.self.cols > 0)
    rows_backward(ctx, dropout_.of_own_gradient(verbs), w, d_own, gradient.self, true);
}

void NeighbourSum::backward_products(Verbs& verbs, const LayerInput& input, ConstMatrixView w,
                                     ConstMatrixView d_target, MatrixView d_w, MatrixView d_rows,
                                     OwnWork own_work) const {
  Context& ctx = verbs.context();
  const ExchangedProducts products(verbs, input.rows, dropout_.of_self(verbs), w);
  const MatrixView d_z = ctx.workspace->matrix(kProductRows, input.rows.rows(), options_.out, ctx.values);
  sum_back(verbs, d_z, d_target, d_z, own_work, [&](const Source& s, ConstMatrixView d_sum) {
    spmm(ctx, transposed_arcs_of(*s.block), d_sum, s.d_rows);
    if (s.own) products.backward_rest(d_z, d_w, d_rows);
  });
  products.backward_boundary(d_z, d_w, d_rows);
}

}  // namespace atl
