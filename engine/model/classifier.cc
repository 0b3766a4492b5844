// ResGCN+'s last layer (Li et al. 2020, "DeeperGCN"), row by row: out = start(h)·W + b, start(h) =
// dropout(ReLU(norm(h))).
#include "model/residual_block.h"

namespace atl {
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
