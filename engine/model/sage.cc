// GraphSAGE with mean aggregation: out = finish(drop(h)·W_self + mean(drop(h))·W_neigh). (Hamilton et al. 2017.) Whether
// the mean includes the vertex itself is a matter of the graph's self loops. One parameter (2·in, out), W_self on top, as
// in the form with a precomputed first aggregation, whose input is [h, mean(h)].
#include "model/neighbour_sum.h"
#include "model/skip_gradient.h"
#include "model/stack.h"

namespace atl {
namespace {

class Sage final : public Layer {
 public:
  explicit Sage(LayerOptions o) : o_(o), sum_(o, 0), finish_(o.finish, 1, sum_.saved_count()) {}

  std::string describe() const override { return fmt::format("sage {} → {}", o_.in, o_.out); }
  Index in() const override { return o_.in; }
  Index out() const override { return o_.out; }
  bool gathers() const override { return true; }
  bool rows_in_backward() const override { return !sum_.aggregate_first(); }
  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> all{{"weight", 2 * o_.in, o_.out, o_.init, o_.decay, o_.in, o_.out}};
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
    return {4.0 * double(o_.in) * double(o_.out), sum_.gather_columns(), o_.in};
  }

  void forward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
               MatrixView out) const override {
    const ConstMatrixView residual = o_.skip ? input.self.dense : ConstMatrixView();
    MatrixView target = finish_.target(saved, out);
    auto own_rows = [&] {
      transform(verbs.context(), input.self, self_dropout(verbs), self_weight(w.value(0)), target);
    };
    const FunctionRef<void()> begin(own_rows);
    sum_.forward(verbs, input.rows, neighbour_weight(w.value(0)), saved, target,
                 finish_.fused(verbs, w, residual), &begin);
    finish_.forward(verbs, w, saved, out, residual);
  }

  void backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView out,
                MatrixView d_out, const LayerGradient& gradient) const override {
    SkipGradient skip(verbs.context(), o_.skip, d_out);
    finish_.backward(verbs, w, saved, out, d_out, skip.view());
    sum_.backward(verbs, input.rows, neighbour_weight(w.value(0)), saved, d_out, out,
                  neighbour_weight(w.gradient(0)), gradient.rows);
    transform_backward(verbs.context(), input.self, self_dropout(verbs), self_weight(w.value(0)), d_out,
                       self_weight(w.gradient(0)), gradient.self, true);
    skip.add_to(gradient.self);
  }

 private:
  template <class T>
  View<T> self_weight(View<T> w) const {
    return w.slice_rows(0, o_.in);
  }
  template <class T>
  View<T> neighbour_weight(View<T> w) const {
    return w.slice_rows(o_.in, o_.in);
  }
  Dropout self_dropout(Verbs& verbs) const {
    return verbs.dropout(o_.dropout, o_.dropout_purpose, o_.index, verbs.destination_ids());
  }

  LayerOptions o_;
  NeighbourSum sum_;
  RowFinish finish_;
};

}  // namespace

std::unique_ptr<Layer> make_sage(const LayerOptions& options) {
  LayerOptions o = options;
  o.finish.cols = o.out;
  return std::make_unique<Sage>(o);
}

/// aggregator: mean (without the vertex itself) | meanWithSelf (the graph has self loops) | gcn (one weight for both).
Model make_sage_model(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const bool one_weight = spec.options.text("aggregator") == "gcn";
  Model model;
  model.layers = one_weight ? make_stack({make_conv, false}, spec, training, input)
                            : make_stack({make_sage, true, Init::kFanIn}, spec, training, input);
  return model;
}

}  // namespace atl
