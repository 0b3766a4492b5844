// A convolution with one weight: out = finish((own_row·I + Â) · drop(h) · W). (Kipf & Welling 2017, equation 2; with mean scales
// and self loops it is GraphSAGE's "gcn" aggregator.)
#include "model/finished_layer.h"
#include "model/neighbour_sum.h"

namespace atl {
namespace {

LayerSpec product_of(const LayerOptions& o) {
  const NeighbourSum sum(o);
  return {.name = fmt::format("conv {} → {}", o.in, o.out),
          .parameters = {input_weight("weight", o)},
          .saved = sum.saved(),
          .cost = {2.0 * sum.products() * double(o.in) * double(o.out), sum.gather_columns()},
          .gathers = true,
          .rows_in_backward = !sum.aggregate_first(),
          .in_place_backward = sum.aggregate_first()};
}

class Conv final : public FinishedLayer {
 public:
  explicit Conv(const LayerOptions& o) : FinishedLayer(o, product_of(o)), sum_(o) {}

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
