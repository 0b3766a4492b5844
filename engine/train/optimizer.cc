#include "train/optimizer.h"

#include <cmath>

namespace atl {

Optimizer::Optimizer(const OptimizerSpec& spec, Parameters& parameters)
    : spec_(spec), parameters_(parameters) {
  const int count = spec.kind == OptimizerKind::kSgd ? 1 : 2;
  for (int i = 0; i < count; ++i) moments_.emplace_back(1, Index(parameters.gradients().size())).zero();
}

double Optimizer::decay_of(const Parameters::Entry& entry) const {
  const WeightDecay& decay = spec_.weight_decay;
  int first = -1;  // the first layer that has weights
  for (const Parameters::Entry& e : parameters_.entries()) {
    if (e.spec.trainable && (first < 0 || e.layer < first)) first = e.layer;
  }
  if (entry.spec.decay == DecayGroup::kNone) return 0;
  if (entry.layer == first && decay.first_layer >= 0) return decay.first_layer;
  return entry.spec.decay == DecayGroup::kDense ? decay.dense : decay.convolutions;
}

/// Scales the whole gradient down to the 2-norm asked for.
void Optimizer::clip(Context& ctx) {
  if (spec_.clip_norm <= 0) return;
  double sum = 0;
  for (const Real g : parameters_.gradients()) sum += double(g) * double(g);
  const double norm = std::sqrt(sum);
  if (!(norm > spec_.clip_norm)) return;
  MatrixView all(parameters_.gradients().data(), 1, Index(parameters_.gradients().size()));
  axpby(ctx, 0, all, Real(spec_.clip_norm / norm), all);
}

void Optimizer::step(Context& ctx, double learning_rate) {
  clip(ctx);
  ++steps_;
  for (const Parameters::Entry& e : parameters_.entries()) {
    if (!e.spec.trainable || e.count == 0) continue;
    const Real* gradient = parameters_.gradients().data() + e.offset;
    Real* weight = parameters_.values().data() + e.offset;
    Real* first = moments_[0].data() + e.offset;
    if (spec_.kind == OptimizerKind::kSgd) {
      sgd(ctx, {learning_rate, spec_.momentum, decay_of(e)}, e.count, gradient, first, weight);
    } else {
      const AdamStep adam_step{learning_rate, spec_.beta1, spec_.beta2,
                               spec_.epsilon, decay_of(e), spec_.kind == OptimizerKind::kAdamW,
                               steps_};
      adam(ctx, adam_step, e.count, gradient, first, moments_[1].data() + e.offset, weight);
    }
  }
}

}  // namespace atl
