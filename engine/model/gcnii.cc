// GCNII (Chen et al. 2020, equation 5): s = (1−α)·Â·drop(h) + α·h⁰ ; out = ReLU(θ_l·s·W + (1−θ_l)·s), θ_l =
// ln(λ/l + 1), l from 1. An encoder in front makes h⁰, and a dense layer at the end makes the classes. h⁰ is
// the tap that every convolution reads.
#include <cmath>

#include "model/aggregate.h"
#include "model/finished_layer.h"
#include "model/kinds.h"
#include "model/transform.h"
#include "tensor/context.h"

namespace atl {
namespace {

struct GcniiOptions {
  LayerOptions layer;  // in == out
  Real alpha = Real(0.1), theta = Real(0.5);
};

LayerSpec gcnii_product(const LayerOptions& o) {
  constexpr int kEncoder = 0;
  return {.name = fmt::format("gcnii {} → {}", o.in, o.out),
          .parameters = {{"weight", o.in, o.in, Init::kFanOut, o.decay}},
          .saved = {{"s", SavedSpec::Over::kDestinations, o.in}},
          .cost = {2.0 * double(o.in) * double(o.in), o.in},
          .gathers = true,
          .in_place_backward = true,
          .tap = kEncoder};
}

class Gcnii final : public FinishedLayer {
 public:
  explicit Gcnii(const GcniiOptions& o) : FinishedLayer(o.layer, gcnii_product(o.layer)), o_(o) {}

 private:
  void multiply(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView target,
                const Epilogue& finish) const override {
    static constexpr ScratchKey kDropped;
    Context& ctx = verbs.context();
    MatrixView s = saved.at(0);
    sum_over(verbs, input.rows, {s}, no_own_work,
             [&](const Source& source, MatrixView sum, bool accumulate, bool) {
               const Dropout dropout = input_dropout().of(verbs, source);
               spmm(ctx, arcs_of(*source.block), dropped_rows(ctx, source.rows, dropout, kDropped), sum,
                    accumulate);
             });
    axpby(ctx, o_.alpha, input.tap, 1 - o_.alpha, s);
    gemm(ctx, s, mixed_weight(ctx, w), target, false, finish);
  }

  void multiply_backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
                         MatrixView d_target, MatrixView scratch,
                         const LayerGradient& gradient) const override {
    Context& ctx = verbs.context();
    const auto weight = [&] {
      static constexpr ScratchKey kOfMixed;
      MatrixView d_mixed = ctx.workspace->matrix(kOfMixed, width(), width());
      gemm_at(ctx, saved.at(0), {}, d_target, d_mixed);
      axpby(ctx, o_.theta, d_mixed, 1, w.gradient(0));
    };
    const MatrixView d_s = scratch;  // of the same shape
    gemm_bt(ctx, d_target, mixed_weight(ctx, w), d_s);
    axpby(ctx, o_.alpha, d_s, 1, gradient.tap);
    scale(ctx, 1 - o_.alpha, d_s);
    sum_back(verbs, input.rows, d_s, gradient.rows, weight, [&](const Source& source, ConstMatrixView d_sum) {
      if (source.d_rows.cols == 0) return;
      spmm(ctx, transposed_arcs_of(*source.block), d_sum, source.d_rows, false,
           {.dropout = input_dropout().of(verbs, source)});
    });
  }

  /// θ·W + (1−θ)·I, which saves a second product and a sum.
  MatrixView mixed_weight(Context& ctx, const LayerWeights& w) const {
    static constexpr ScratchKey kMixed, kOnes;
    const auto [mixed, is_made] = place_of(ctx, w.value(0), Made::kMixed, kMixed, width(), width());
    if (is_made) return mixed;
    axpby(ctx, o_.theta, w.value(0), 0, mixed);
    MatrixView diagonal(mixed.data, width(), 1, width() + 1);
    MatrixView ones = ctx.workspace->matrix(kOnes, width(), 1);
    fill(ctx, 1, ones);
    axpby(ctx, 1 - o_.theta, ones, 1, diagonal);
    return mixed;
  }

  Index width() const { return o_.layer.in; }

  GcniiOptions o_;
};

/// Convolutions decay at their own rate, the encoder and the last layer at the dense one.
Model make_gcnii(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const double lambda = spec.options.number("lambda");
  Model model;
  LayerOptions encoder = dense_on_features(spec.hidden, training, input);
  encoder.finish.activation = Activation::kRelu;
  model.layers.push_back(make_dense(encoder));
  for (int l = 1; l <= spec.layers; ++l) {
    GcniiOptions o;
    o.alpha = Real(spec.options.number("alpha"));
    o.theta = Real(std::log(lambda / l + 1));
    o.layer.index = l;
    o.layer.in = o.layer.out = spec.hidden;
    o.layer.dropout = training.dropout;
    o.layer.finish.bias = false;
    o.layer.finish.norm = spec.norm;
    o.layer.finish.activation = Activation::kRelu;
    model.layers.push_back(std::make_unique<Gcnii>(o));
  }
  LayerOptions last;
  last.index = spec.layers + 1;
  last.in = spec.hidden;
  last.out = input.classes;
  last.dropout = training.dropout;
  last.decay = last.finish.decay = DecayGroup::kDense;
  model.layers.push_back(make_dense(last));
  return model;
}

}  // namespace

ModelKind gcnii_kind() {
  return {"gcnii", make_gcnii, [](const Options&) -> GraphNeeds {
            return {Normalisation::kSymmetric, SelfLoops::kAdd};
          }};
}

}  // namespace atl
