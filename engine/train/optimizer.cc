#include "train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace atl {
namespace {

/// The first layer that has weights; −1: none.
int first_layer(const Parameters& parameters) {
  int first = -1;
  for (const Parameters::Entry& e : parameters.entries()) {
    if (e.spec.trainable && (first < 0 || e.layer < first)) first = e.layer;
  }
  return first;
}

double decay_of(const Parameters::Entry& entry, const WeightDecay& decay, int first) {
  if (entry.spec.decay == DecayGroup::kNone) return 0;
  if (entry.layer == first && decay.first_layer >= 0) return decay.first_layer;
  return entry.spec.decay == DecayGroup::kDense ? decay.dense : decay.convolutions;
}

}  // namespace

Optimizer::Optimizer(const OptimizerSpec& spec, Parameters& parameters, int delay)
    : spec_(spec), is_delayed_(delay > 0 && spec.kind != OptimizerKind::kSgd), parameters_(parameters) {
  if (is_delayed_) spec_.beta1 = 1 - (1 - spec.beta1) / (1 + delay);
  const int count = spec.kind == OptimizerKind::kSgd ? 1 : 2;
  for (int i = 0; i < count; ++i)
    moments_.emplace_back(1, Index(parameters.gradients().size()), parameters.device()).zero();
  const int first = first_layer(parameters);
  for (const Parameters::Entry& e : parameters.entries())
    decays_.push_back(decay_of(e, spec.weight_decay, first));
}

/// With late gradients, multiplies by the correction of the mean, by which Adam's kernel divides. So the mean
/// isn't corrected.
double Optimizer::rate(double epoch_rate) const {
  return is_delayed_ ? epoch_rate * (1 - std::pow(spec_.beta1, double(steps_ + 1))) : epoch_rate;
}

void Optimizer::step(Context& ctx, const StepState* state) {
  for (std::size_t i = 0; i < decays_.size(); ++i) {
    const Parameters::Entry& e = parameters_.entries()[i];
    if (!e.spec.trainable || e.count == 0) continue;
    const Real* gradient = parameters_.gradients().data() + e.offset;
    Real* weight = parameters_.values().data() + e.offset;
    Real* first = moments_[0].data() + e.offset;
    if (spec_.kind == OptimizerKind::kSgd) {
      sgd(ctx, {spec_.momentum, decays_[i]}, state, e.count, gradient, first, weight);
    } else {
      const AdamRule rule{spec_.beta1, spec_.beta2, spec_.epsilon, decays_[i],
                          spec_.kind == OptimizerKind::kAdamW};
      adam(ctx, rule, state, e.count, gradient, first, moments_[1].data() + e.offset, weight);
    }
  }
}

double learning_rate_at(const ScheduleSpec& schedule, double base, Index epoch, Index epochs) {
  const Index warmup = schedule.warmup_epochs;
  if (epoch <= warmup) return base * double(epoch) / double(warmup + 1);
  const Index past = epoch - warmup - 1;  // full-rate epochs done before this one
  switch (schedule.kind) {
    case ScheduleKind::kConstant:
      break;
    case ScheduleKind::kStep: {
      const Index steps = past / std::max(schedule.step_epochs, 1);
      return base * std::pow(schedule.factor, double(steps));
    }
    case ScheduleKind::kCosine: {
      const double share = double(past) / double(std::max<Index>(epochs - warmup - 1, 1));
      return schedule.minimum +
             (base - schedule.minimum) * 0.5 * (1 + std::cos(std::numbers::pi * std::min(share, 1.0)));
    }
  }
  return base;
}

}  // namespace atl
