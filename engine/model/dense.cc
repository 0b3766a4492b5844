// A row-wise layer: out = finish(drop(h) · W). Encoders, trailing linear layers, and what is left of a first
// convolution whose aggregation was computed once.
#include <algorithm>

#include "model/finished_layer.h"
#include "model/transform.h"

namespace atl {
namespace {

class Dense final : public FinishedLayer {
 public:
  explicit Dense(const LayerOptions& o) : FinishedLayer(o, {weight_of(o)}, {}) {}

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
    const int parts = own_parameter(0).parts;
    const Dropout dropout = self_dropout(verbs);
    if (parts > 1)
      return weight_backward_in_parts(verbs.context(), input.self, dropout, d_target, w, 0, parts);
    transform_backward(verbs.context(), input.self, dropout, w.value(0), d_target, w.gradient(0),
                       gradient.self);
  }

  static ParameterSpec weight_of(const LayerOptions& o) {
    ParameterSpec weight = input_weight("weight", o);
    weight.fan_in = o.fan_in;
    weight.fan_out = o.out;
    weight.parts = parts_of(o);
    return weight;
  }
  /// Of a gradient that nothing is left to hide behind, three quarters travel while the others are computed.
  static int parts_of(const LayerOptions& o) {
    return o.fixed_input && !o.is_split() ? int(std::min<Index>(4, o.in)) : 1;
  }
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerOptions& options) {
  return std::make_unique<Dense>(options);
}

}  // namespace atl
