// A row-wise layer: out = finish(drop(h) · W). Encoders, trailing linear layers, and what is left of a first
// convolution whose aggregation was computed once.
#include "model/conv.h"
#include "model/skip_gradient.h"
#include "model/transform.h"

namespace atl {
namespace {

class Dense final : public Layer {
 public:
  explicit Dense(LayerOptions o) : o_(o), finish_(o.finish, 1, 0) {}

  std::string describe() const override { return fmt::format("dense {} → {}", o_.in, o_.out); }
  Index in() const override { return o_.in; }
  Index out() const override { return o_.out; }
  bool gathers() const override { return false; }
  LayerCost cost() const override { return {2.0 * double(o_.in) * double(o_.out), 0, 0}; }
  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> all{{"weight", o_.in, o_.out, o_.init, o_.decay, o_.fan_in, o_.out}};
    finish_.declare(all);
    return all;
  }
  std::vector<SavedSpec> saved() const override {
    std::vector<SavedSpec> all;
    finish_.declare(all);
    return all;
  }

  void forward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
               MatrixView out) const override {
    const ConstMatrixView residual = o_.skip ? input.self.dense : ConstMatrixView();
    transform(verbs.context(), input.self, dropout_of(verbs), w.value(0), finish_.target(saved, out),
              finish_.fused(verbs, w, residual));
    finish_.forward(verbs, w, saved, out, residual);
  }

  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView out,
                MatrixView d_out, const LayerGradient& gradient) const override {
    SkipGradient skip(verbs.context(), o_.skip, d_out);
    finish_.backward(verbs, w, saved, out, d_out, skip.view());
    transform_backward(verbs.context(), input.self, dropout_of(verbs), w.value(0), d_out, w.gradient(0),
                       gradient.self);
    skip.add_to(gradient.self);
  }

 private:
  Dropout dropout_of(Verbs& verbs) const {
    return verbs.dropout(o_.dropout, o_.dropout_purpose, o_.index, verbs.destination_ids());
  }

  LayerOptions o_;
  RowFinish finish_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerOptions& options) {
  LayerOptions o = options;
  o.finish.cols = o.out;
  return std::make_unique<Dense>(o);
}

}  // namespace atl
