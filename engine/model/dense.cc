// A row-wise layer: out = finish(drop(h) · W). It serves as encoder, as trailing linear layer, and as the
// rest of a first convolution whose aggregation was computed once.
#include <algorithm>

#include "model/finished_layer.h"
#include "model/transform.h"

namespace atl {
namespace {

/// With a fixed input, no computation follows that could hide the sum of the gradient over ranks. So the
/// gradient comes in four parts: all but the last travel while others are computed.
int dense_parts(const LayerOptions& o) {
  return o.fixed_input && !o.is_split() ? int(std::min<Index>(4, o.in)) : 1;
}

LayerSpec dense_product(const LayerOptions& o) {
  ParameterSpec weight = input_weight("weight", o);
  weight.fan_in = o.fan_in;
  weight.fan_out = o.out;
  weight.parts = dense_parts(o);
  return {.name = fmt::format("dense {} → {}", o.in, o.out),
          .parameters = {weight},
          .cost = {2.0 * double(o.in) * double(o.out), 0}};
}

class Dense final : public FinishedLayer {
 public:
  explicit Dense(const LayerOptions& o) : FinishedLayer(o, dense_product(o)) {}

 private:
  void multiply(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved&, MatrixView target,
                const Epilogue& finish) const override {
    if (options().is_split() && options().input_blocks > 1)
      return multiply_blocks(verbs, w.value(0), input.self, target);
    transform(verbs.context(), input.self, input_dropout().of_self(verbs), w.value(0), target, finish);
  }
  void multiply_backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved&,
                         MatrixView d_target, MatrixView, const LayerGradient& gradient) const override {
    const int parts = spec().parameters[0].parts;
    const Dropout dropout = input_dropout().of_self(verbs);
    if (parts > 1 && gradient.self.cols == 0)
      return weight_backward_in_parts(verbs.context(), input.self, dropout, d_target, w, 0, parts);
    if (options().is_split() && options().input_blocks > 1) {
      ATOLL_CHECK(gradient.self.cols == 0, "features that are split take no gradient");
      return for_each_block(verbs, input.self, [&](const Rows& rows, const Dropout& dropped, int block) {
        weight_backward(verbs.context(), rows, dropped, d_target,
                        w.gradient(0).slice_rows(block * rows.cols(), rows.cols()));
      });
    }
    transform_backward(verbs.context(), input.self, dropout, w.value(0), d_target, w.gradient(0),
                       gradient.self);
  }

  void multiply_blocks(Verbs& verbs, ConstMatrixView w, const Rows& input, MatrixView target) const {
    for_each_block(verbs, input, [&](const Rows& rows, const Dropout& dropout, int block) {
      transform(verbs.context(), rows, dropout, w.slice_rows(block * rows.cols(), rows.cols()), target, {},
                block > 0);
    });
  }
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerOptions& options) {
  return std::make_unique<Dense>(options);
}

}  // namespace atl
