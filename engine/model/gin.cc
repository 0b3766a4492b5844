// GIN (Xu et al. 2019, "How Powerful are Graph Neural Networks?", equation 4.1): h' = MLP((1 + ε)·h + Σ h
// over the neighbours). Each MLP has two dense layers with norm and ReLU between them; norm and ReLU follow
// all MLPs but the last. The first dense layer is the convolution's product. Weights begin as in the authors'
// code: uniform in ±1/√fan_in.
#include "model/kinds.h"

namespace atl {
namespace {

Model make_gin(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const StackPlan plan{.convolution = make_conv,
                       .init = Init::kFanIn,
                       .own_row = Real(1 + spec.options.number("epsilon")),
                       .mlp = true};
  Model model;
  model.layers = make_stack(plan, spec, training, input);
  return model;
}

}  // namespace

/// A vertex counts 1 + ε times, and once more as its own neighbour where the data have a self-loop. kRemove
/// is for older runs, in which self-loops didn't count (job/load.h).
ModelKind gin_kind() {
  return {"gin", make_gin, [](const Options&) -> GraphNeeds {
            return {Normalisation::kSum, SelfLoops::kRemove};
          }};
}

}  // namespace atl
