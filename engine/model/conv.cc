// A convolution with one weight: out = finish(Â · drop(h) · W). (Kipf & Welling 2017; with mean scales and self
// loops it is GraphSAGE's "gcn" aggregator.)
#include "model/neighbour_sum.h"
#include "model/skip_gradient.h"

namespace atl {
namespace {

class Conv final : public Layer {
 public:
  explicit Conv(LayerOptions o) : o_(o), sum_(o, 0), finish_(o.finish, 1, sum_.saved_count()) {}

  std::string describe() const override { return fmt::format("conv {} → {}", o_.in, o_.out); }
  Index in() const override { return o_.in; }
  Index out() const override { return o_.out; }
  bool gathers() const override { return true; }
  bool rows_in_backward() const override { return !sum_.aggregate_first(); }
  bool in_place_backward() const override { return sum_.aggregate_first(); }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> all{{"weight", o_.in, o_.out, o_.init, o_.decay}};
    finish_.declare(all);
    return all;
  }
  std::vector<SavedSpec> saved() const override {
    std::vector<SavedSpec> all;
    sum_.declare(all);
    finish_.declare(all);
    return all;
  }
  LayerCost cost() const override {
    return {2.0 * double(o_.in) * double(o_.out), sum_.gather_columns(), o_.in};
  }

  void forward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
               MatrixView out) const override {
    const ConstMatrixView residual = o_.skip ? input.self.dense : ConstMatrixView();
    sum_.forward(verbs, input.rows, w.value(0), saved, finish_.target(saved, out),
                 finish_.fused(verbs, w, residual));
    finish_.forward(verbs, w, saved, out, residual);
  }

  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView out,
                MatrixView d_out, const LayerGradient& gradient) const override {
    SkipGradient skip(verbs.context(), o_.skip, d_out);
    finish_.backward(verbs, w, saved, out, d_out, skip.view());
    sum_.backward(verbs, input.rows, w.value(0), saved, d_out, out, w.gradient(0), gradient.rows);
    skip.add_to(gradient.self);
  }

 private:
  LayerOptions o_;
  NeighbourSum sum_;
  RowFinish finish_;
};

}  // namespace

std::unique_ptr<Layer> make_conv(const LayerOptions& options) {
  LayerOptions o = options;
  o.finish.cols = o.out;
  return std::make_unique<Conv>(o);
}

}  // namespace atl
