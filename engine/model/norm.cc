// Norms: layer norm, and batch norm over the rows of all ranks.
#include "model/conv.h"

#include <algorithm>

namespace atl {
namespace {
constexpr double kRunningMomentum = 0.1;  // weight of the newest statistics in the running ones
enum { kGain, kShift, kRunningMean, kRunningVariance };  // after first_parameter_
}  // namespace

void NormLayer::declare(std::vector<ParameterSpec>& parameters) const {
  if (!*this) return;
  parameters.push_back({"norm.gain", 1, cols_, Init::kOne, DecayGroup::kNone});
  parameters.push_back({"norm.shift", 1, cols_, Init::kZero, DecayGroup::kNone});
  if (!batch()) return;
  parameters.push_back({"norm.running_mean", 1, cols_, Init::kZero, DecayGroup::kNone, 0, 0, false});
  parameters.push_back({"norm.running_variance", 1, cols_, Init::kOne, DecayGroup::kNone, 0, 0, false});
}

void NormLayer::declare(std::vector<SavedSpec>& saved) const {
  if (batch()) saved.push_back({"norm.stats", SavedSpec::Over::kOutputs, cols_, 2, true});
}

void NormLayer::statistics(Verbs& verbs, const LayerWeights& weights, ConstMatrixView x, Saved& saved) const {
  if (!batch()) return;
  Context& ctx = verbs.context();
  Real* mean = weights.statistic(first_parameter_ + kRunningMean).data;
  Real* variance = weights.statistic(first_parameter_ + kRunningVariance).data;
  if (!verbs.state().training) return known_statistics(ctx, mean, variance, saved.at(saved_at_));
  static constexpr ScratchKey kSums;
  const std::span<double> sums = zeroed_sums(ctx, kSums, 2 * cols_);
  column_sums(ctx, x, sums.data(), verbs.state().weights);
  verbs.reduce(sums);
  const double rows = std::max(verbs.state().reduced_rows, 1.0);
  norm_statistics(ctx, sums, rows, saved.at(saved_at_));
  // A pass without rows, such as that of a chunk without training vertices, says nothing of the data.
  const bool counts = !verbs.state().repeating && verbs.state().reduced_rows > 0;
  if (counts) move_running_statistics(ctx, sums, rows, kRunningMomentum, mean, variance);
}

/// A backward with a zero gradient yields the terms of mean and variance alone. The terms of each row are
/// scaled by the row's weight (PassState::weights).
void NormLayer::statistics_backward(Verbs& verbs, const LayerWeights& weights, ConstMatrixView x,
                                    Saved& saved, std::span<double> sums, MatrixView d) const {
  Context& ctx = verbs.context();
  verbs.reduce(sums);
  Epilogue e;
  enter(weights, saved, e);
  static constexpr ScratchKey kRest;
  MatrixView rest = ctx.workspace->matrix(kRest, d.rows, d.cols);
  fill(ctx, 0, rest);
  apply_backward(ctx, e, x, x, rest, {}, sums, std::max(verbs.state().reduced_rows, 1.0));
  if (const auto counted = verbs.state().weights; !counted.empty()) scale_rows(ctx, counted.data(), rest);
  axpby(ctx, 1, rest, 1, d);
}

void NormLayer::enter(const LayerWeights& weights, Saved& saved, Epilogue& e) const {
  if (!*this) return;
  e.norm = layer() ? Epilogue::Norm::kLayer : Epilogue::Norm::kBatch;
  e.gain = weights.value(first_parameter_ + kGain).data;
  e.shift = weights.value(first_parameter_ + kShift).data;
  if (batch()) {
    e.col_mean = saved.at(saved_at_).row(0);
    e.col_rstd = saved.at(saved_at_).row(1);
  }
}

void NormLayer::enter(const LayerWeights& weights, EpilogueGradient& gradient) const {
  if (!*this) return;
  gradient.gain = weights.gradient(first_parameter_ + kGain).data;
  gradient.shift = weights.gradient(first_parameter_ + kShift).data;
}

}  // namespace atl
