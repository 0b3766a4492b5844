// The two convolutions of ResGCN+'s blocks (Li et al. 2020, "DeeperGCN").
#include "model/aggregate.h"
#include "model/residual_block.h"
#include "model/softmax_over.h"

namespace atl {

// out = h + r·W_self + mean(r)·W_neigh + b with r = start(h): GraNNDis' ResGCN+ block. (The convolution is
// GraphSAGE's, Hamilton et al. 2017, section 3.3.)

namespace {

class MeanBlock final : public ResidualBlock {
 public:
  MeanBlock(Index hidden, RowStart start)
      : ResidualBlock(hidden, start, 2 * hidden,
                      {.name = fmt::format("resgcn mean {} → {}", hidden, hidden),
                       .saved = {{"aggregated", SavedSpec::Over::kDestinations, hidden}},
                       .cost = {4.0 * double(hidden) * double(hidden), hidden}}) {}

 private:
  void convolve(const Pass& p, MatrixView out, const Epilogue& ending) const override {
    Context& ctx = p.verbs.context();
    MatrixView aggregated = p.saved.at(0);
    const auto own = [&] { gemm(ctx, p.self.rows, self_weight(p.weights.value(0)), out); };
    sum_over(p.verbs, p.rows, {aggregated}, own, [&](const Source& s, MatrixView sum, bool accumulate, bool) {
      spmm(ctx, arcs_of(*s.block), started(p, s).rows, sum, accumulate);
    });
    gemm(ctx, aggregated, neighbour_weight(p.weights.value(0)), out, true, ending);
  }

  MatrixView convolve_backward(const Pass& p, RowStart::Sums sums, ConstMatrixView d_out, MatrixView scratch,
                               MatrixView d_rows) const override {
    Context& ctx = p.verbs.context();
    const auto weights = [&] {
      gemm_at(ctx, p.self.rows, {}, d_out, self_weight(p.weights.gradient(0)), true);
      gemm_at(ctx, p.saved.at(0), {}, d_out, neighbour_weight(p.weights.gradient(0)), true);
    };
    const MatrixView d_aggregated = scratch;  // of the same shape
    gemm_bt(ctx, d_out, neighbour_weight(p.weights.value(0)), d_aggregated);
    sum_back(p.verbs, p.rows, d_aggregated, d_rows, weights, [&](const Source& s, ConstMatrixView d_sum) {
      const MatrixView d_source = gradient_of(p, s);
      if (d_source.cols == 0) return;
      spmm(ctx, transposed_arcs_of(*s.block), d_sum, d_source);
      start_.backward(p.verbs, p.weights, p.saved, started(p, s), d_source, sums);
    });
    static constexpr ScratchKey kOfSelf;
    MatrixView d_self = ctx.workspace->matrix(kOfSelf, d_out.rows, hidden_, ctx.values);
    gemm_bt(ctx, d_out, self_weight(p.weights.value(0)), d_self);
    return d_self;
  }

  template <class T>
  View<T> self_weight(View<T> w) const {
    return w.slice_rows(0, hidden_);
  }
  template <class T>
  View<T> neighbour_weight(View<T> w) const {
    return w.slice_rows(hidden_, hidden_);
  }
};

}  // namespace

std::unique_ptr<Layer> make_mean_block(Index hidden, RowStart start) {
  return std::make_unique<MeanBlock>(hidden, start);
}

// out = h + (r + a)·W + b, where r = start(h) and a is the softmax aggregation of the messages m = ReLU(r),
// column by column: GENConv. The paper's messages are ReLU(r) + 10⁻⁷, so that its power mean never divides by
// 0. A softmax weighs messages by their differences, so the constant would only be added to a; it is left out
// here.

namespace {

const Epilogue kRelu{.activation = Activation::kRelu};

class SoftmaxBlock final : public ResidualBlock {
 public:
  SoftmaxBlock(Index hidden, RowStart start, Real temperature)
      : ResidualBlock(hidden, start, hidden,
                      {.name = fmt::format("resgcn softmax {} → {}", hidden, hidden),
                       .saved = {{"max", SavedSpec::Over::kDestinations, hidden, -1, true},
                                 {"sum", SavedSpec::Over::kDestinations, hidden, -1, true},
                                 {"aggregated", SavedSpec::Over::kDestinations, hidden}},
                       .cost = {2.0 * double(hidden) * double(hidden), hidden, {hidden, false}}}),
        temperature_(temperature) {}

 private:
  void convolve(const Pass& p, MatrixView out, const Epilogue& ending) const override {
    Context& ctx = p.verbs.context();
    const Softmaxes softmaxes{{p.saved.at(0), p.saved.at(1)}, p.saved.at(2)};
    const auto begin = [&] {
      softmax_begin(ctx, softmaxes);
      return ConstMatrixView();
    };
    const auto add = [&](const Source& s, ConstMatrixView, const Softmaxes& into) {
      softmax_add(ctx, arcs_of(*s.block), temperature_, messages(ctx, started(p, s)), into);
    };
    softmax_over(p.verbs, p.rows, softmaxes, begin, add);
    softmax_finish(ctx, softmaxes);
    gemm(ctx, combined(ctx, p.self, softmaxes.out), p.weights.value(0), out, false, ending);
  }

  MatrixView convolve_backward(const Pass& p, RowStart::Sums sums, ConstMatrixView d_out, MatrixView scratch,
                               MatrixView d_rows) const override {
    Context& ctx = p.verbs.context();
    const SoftmaxState state{p.saved.at(0), p.saved.at(1)};
    const ConstMatrixView aggregated = p.saved.at(2);
    gemm_at(ctx, combined(ctx, p.self, aggregated), {}, d_out, p.weights.gradient(0), true);
    const MatrixView d_combined = scratch;  // of the same shape
    gemm_bt(ctx, d_out, p.weights.value(0), d_combined);
    softmax_back(p.verbs, p.rows, {{}, state, aggregated, d_combined, {}}, d_rows,
                 [&](const Source& s, const SoftmaxGradient& of) {
                   const MatrixView d_source = gradient_of(p, s);
                   if (d_source.cols == 0) return;
                   const Started source = started(p, s);
                   const ConstMatrixView m = messages(ctx, source);
                   softmax_backward(ctx, arcs_of(*s.block), s.block->transpose, temperature_, m, of.state,
                                    of.result, of.d_out, d_source);
                   apply_backward(ctx, kRelu, {}, m, d_source, {});
                   start_.backward(p.verbs, p.weights, p.saved, source, d_source, sums);
                 });
    return d_combined;
  }

  /// ReLU(r), which is r itself where start() ends with ReLU.
  ConstMatrixView messages(Context& ctx, const Started& source) const {
    if (start_.relu()) return source.rows;
    static constexpr ScratchKey kMessages;
    MatrixView m = ctx.workspace->matrix(kMessages, source.rows.rows, source.rows.cols, ctx.values);
    axpby(ctx, 1, source.rows, 0, m);
    apply(ctx, kRelu, m, m);
    return m;
  }
  /// (dst, hidden): r + a, to which the weight is applied.
  ConstMatrixView combined(Context& ctx, const Started& self, ConstMatrixView aggregated) const {
    static constexpr ScratchKey kCombined;
    MatrixView sum = ctx.workspace->matrix(kCombined, aggregated.rows, aggregated.cols, ctx.values);
    axpby(ctx, 1, self.rows, 0, sum);
    axpby(ctx, 1, aggregated, 1, sum);
    return sum;
  }

  Real temperature_;
};

}  // namespace

std::unique_ptr<Layer> make_softmax_block(Index hidden, RowStart start, Real temperature) {
  return std::make_unique<SoftmaxBlock>(hidden, start, temperature);
}

}  // namespace atl
