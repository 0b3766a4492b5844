// A convolution with one weight: out = finish((own_row·I + Â) · drop(h) · W). (Kipf & Welling 2017, equation 2; with mean scales
// and self loops it is GraphSAGE's "gcn" aggregator.)
#include "model/finished_layer.h"
#include "model/neighbour_sum.h"

namespace atl {
namespace {

class Conv final : public FinishedLayer {
 public:
  explicit Conv(const LayerOptions& o)
      : FinishedLayer(o, {input_weight("weight", o)}, NeighbourSum(o).saved()), sum_(o) {}

  std::string describe() const override { return fmt::format("conv {} → {}", in(), out()); }
  bool gathers() const override { return true; }
  bool rows_in_backward() const override { return !sum_.aggregate_first(); }
  bool in_place_backward() const override { return sum_.aggregate_first(); }
  LayerCost cost() const override {
    return {2.0 * sum_.products() * double(in()) * double(out()), sum_.gather_columns()};
  }

 private:
  void multiply(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView target,
                const Epilogue& finish) const override {
    OwnRows own(verbs.context(), options().own_row != 0 ? input.rows : Rows());
    sum_.forward(verbs, input, own, w.value(0), saved, {target}, finish);
  }
  void multiply_backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
                         MatrixView d_target, MatrixView scratch,
                         const LayerGradient& gradient) const override {
    sum_.backward(verbs, input, w.value(0), saved, d_target, scratch, w.gradient(0), gradient);
  }

  NeighbourSum sum_;
};

}  // namespace

std::unique_ptr<Layer> make_conv(const LayerOptions& options) {
  return std::make_unique<Conv>(options);
}

}  // namespace atl
