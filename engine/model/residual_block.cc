#include "model/residual_block.h"

namespace atl {
namespace {

/// Whether the block's sources are its destinations, in the same order.
bool sources_are_destinations(const Block& b) {
  return b.dst_are_sources && b.src() == b.dst();
}

LayerSpec block_of(Index hidden, const RowStart& start, Index weight_rows, LayerSpec convolution) {
  LayerSpec spec = std::move(convolution);
  spec.in = spec.out = hidden;
  spec.parameters = {{"weight", weight_rows, hidden, Init::kGlorot, DecayGroup::kConvolution, hidden, hidden},
                     {"bias", 1, hidden, Init::kZero, DecayGroup::kConvolution}};
  spec.gathers = spec.rows_in_backward = true;
  start.declare(spec.parameters);
  start.declare(spec.saved);
  return spec;
}

}  // namespace

ResidualBlock::ResidualBlock(Index hidden, RowStart start, Index weight_rows, LayerSpec convolution)
    : Layer(block_of(hidden, start, weight_rows, std::move(convolution))), hidden_(hidden), start_(start) {}

ResidualBlock::Pass ResidualBlock::pass_of(Verbs& verbs, const LayerWeights& w, const LayerInput& input,
                                           Saved& saved) const {
  return {verbs, w, input.rows, saved,
          start_.forward(verbs, w, saved, input.self.dense, verbs.state().ids, RowStart::kOwn)};
}

RowStart::Started ResidualBlock::started(const Pass& p, const Source& s) const {
  if (sources_are_destinations(*s.block)) return p.self;
  static constexpr ScratchKey kSources;
  return start_.forward(p.verbs, p.weights, p.saved, s.rows.dense, s.block->src_ids, kSources);
}

MatrixView ResidualBlock::gradient_of(const Pass& p, const Source& s) const {
  if (s.d_rows.cols > 0 || !start_.learns()) return s.d_rows;
  static constexpr ScratchKey kOfSources;
  Context& ctx = p.verbs.context();
  return ctx.workspace->matrix(kOfSources, s.rows.rows(), hidden_, ctx.values);
}

void ResidualBlock::forward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
                            MatrixView out) const {
  start_.prepare(verbs, w, input.self.dense, saved);
  Epilogue ending;
  ending.bias = w.value(1).data;
  ending.residual = input.self.dense;
  convolve(pass_of(verbs, w, input, saved), out, ending);
}

void ResidualBlock::backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
                             MatrixView out, MatrixView d_out, const LayerGradient& gradient) const {
  Context& ctx = verbs.context();
  const Pass pass = pass_of(verbs, w, input, saved);
  sum_rows(ctx, d_out, w.gradient(1).data, true);
  const RowStart::Sums sums = start_.begin_backward(verbs);
  const MatrixView d_self = convolve_backward(pass, sums, d_out, out, gradient.rows);
  start_.backward(verbs, w, saved, pass.self, d_self, sums);
  axpby(ctx, 1, d_self, 1, gradient.self);
  start_.end_backward(verbs, w, saved, pass.self.raw, sums, gradient.self);
  axpby(ctx, 1, d_out, 1, gradient.self);
}

RowStart::RowStart(Options options, int first_parameter, int first_saved)
    : options_(options), norm_(options.norm, options.cols, first_parameter, first_saved) {}

void RowStart::declare(std::vector<ParameterSpec>& parameters) const {
  norm_.declare(parameters);
}
void RowStart::declare(std::vector<SavedSpec>& saved) const {
  norm_.declare(saved);
}

void RowStart::prepare(Verbs& verbs, const LayerWeights& weights, ConstMatrixView h, Saved& saved) const {
  norm_.statistics(verbs, weights, h, saved);
}

Epilogue RowStart::epilogue(Verbs& verbs, const LayerWeights& weights, Saved& saved,
                            std::span<const VertexId> ids) const {
  Epilogue e;
  norm_.enter(weights, saved, e);
  if (options_.relu) e.activation = Activation::kRelu;
  e.dropout = verbs.dropout(options_.dropout, Purpose::kDropout, options_.layer, ids);
  return e;
}

RowStart::Started RowStart::forward(Verbs& verbs, const LayerWeights& weights, Saved& saved,
                                    ConstMatrixView h, std::span<const VertexId> ids,
                                    const ScratchKey& to) const {
  const Epilogue e = epilogue(verbs, weights, saved, ids);
  if (!norm_ && !options_.relu && !e.dropout) return {h, h, ids};
  Context& ctx = verbs.context();
  MatrixView r = ctx.workspace->matrix(to, h.rows, h.cols, ctx.values);
  apply(ctx, e, h, r);
  return {h, r, ids};
}

RowStart::Sums RowStart::begin_backward(Verbs& verbs) const {
  static constexpr ScratchKey kSums;
  return norm_.batch() ? zeroed_sums(verbs.context(), kSums, 2 * options_.cols) : Sums();
}

void RowStart::backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, const Started& started,
                        MatrixView d, Sums sums) const {
  Context& ctx = verbs.context();
  const Epilogue e = epilogue(verbs, weights, saved, started.ids);
  if (!norm_ && !options_.relu && !e.dropout) return;
  EpilogueGradient gradient;
  norm_.enter(weights, gradient);
  static constexpr ScratchKey kNone;
  Sums none;
  if (norm_.batch()) {
    column_sums_backward(ctx, e, started.raw, started.rows, d, sums.data());
    none = zeroed_sums(ctx, kNone, 2 * options_.cols);
  }
  apply_backward(ctx, e, started.raw, started.rows, d, gradient, none, 1);
}

void RowStart::end_backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView h,
                            Sums sums, MatrixView d) const {
  if (!norm_.batch()) return;
  norm_.statistics_backward(verbs, weights, h, saved, sums, d);
}

// ResGCN+'s last layer, row by row: out = start(h)·W + b.

namespace {

class Classifier final : public Layer {
 public:
  Classifier(Index in, Index out, RowStart start) : Layer(spec_of(in, out, start)), start_(start) {}

  void forward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
               MatrixView out) const override {
    start_.prepare(verbs, w, input.self.dense, saved);
    Epilogue bias;
    bias.bias = w.value(1).data;
    gemm(verbs.context(), started(verbs, w, input, saved).rows, w.value(0), out, false, bias);
  }

  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView,
                MatrixView d_out, const LayerGradient& gradient) const override {
    Context& ctx = verbs.context();
    const RowStart::Started self = started(verbs, w, input, saved);
    sum_rows(ctx, d_out, w.gradient(1).data, true);
    gemm_at(ctx, self.rows, {}, d_out, w.gradient(0), true);
    gemm_bt(ctx, d_out, w.value(0), gradient.self);
    const RowStart::Sums sums = start_.begin_backward(verbs);
    start_.backward(verbs, w, saved, self, gradient.self, sums);
    start_.end_backward(verbs, w, saved, self.raw, sums, gradient.self);
  }

 private:
  static LayerSpec spec_of(Index in, Index out, const RowStart& start) {
    LayerSpec spec{.name = fmt::format("classifier {} → {}", in, out),
                   .in = in,
                   .out = out,
                   .parameters = {{"weight", in, out, Init::kGlorot, DecayGroup::kDense},
                                  {"bias", 1, out, Init::kZero, DecayGroup::kDense}},
                   .cost = {2.0 * double(in) * double(out), 0}};
    start.declare(spec.parameters);
    start.declare(spec.saved);
    return spec;
  }
  RowStart::Started started(Verbs& verbs, const LayerWeights& w, const LayerInput& input,
                            Saved& saved) const {
    return start_.forward(verbs, w, saved, input.self.dense, verbs.state().ids, RowStart::kOwn);
  }

  RowStart start_;
};

}  // namespace

std::unique_ptr<Layer> make_classifier(Index in, Index out, RowStart start) {
  return std::make_unique<Classifier>(in, out, start);
}

}  // namespace atl
