// A row-wise layer: out = finish(drop(h) · W). Encoders, trailing linear layers, and what is left of a first
// convolution whose aggregation was computed once.
#include "model/finished_layer.h"
#include "model/transform.h"

namespace atl {
namespace {

class Dense final : public FinishedLayer {
 public:
  explicit Dense(const LayerOptions& o)
      : FinishedLayer(o, {{"weight", o.in, o.out, o.init, o.decay, o.fan_in, o.out}}, {}) {}

  std::string describe() const override { return fmt::format("dense {} → {}", in(), out()); }
  bool gathers() const override { return false; }
  LayerCost cost() const override { return {2.0 * double(in()) * double(out()), 0}; }

 private:
  void multiply(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved&, MatrixView target,
                const Epilogue& finish) const override {
    transform(verbs.context(), input.self, self_dropout(verbs), w.value(0), target, finish);
  }
  void multiply_backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved&,
                         MatrixView d_target, MatrixView, const LayerGradient& gradient) const override {
    transform_backward(verbs.context(), input.self, self_dropout(verbs), w.value(0), d_target, w.gradient(0),
                       gradient.self);
  }
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerOptions& options) {
  return std::make_unique<Dense>(options);
}

}  // namespace atl
