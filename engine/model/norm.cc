#include "model/norm.h"

#include <algorithm>
#include <cmath>

namespace atl {
namespace {
constexpr double kEpsilon = 1e-5;                        // of batch norm's variance, as in every framework
constexpr double kRunningMomentum = 0.1;                 // share of the newest statistics in the running ones
enum { kGain, kShift, kRunningMean, kRunningVariance };  // after first_parameter_
}  // namespace

std::span<double> zeroed_sums(Context& ctx, const char* name, Index count) {
  constexpr Index kPerSum = sizeof(double) / sizeof(Real);
  auto* sums = reinterpret_cast<double*>(ctx.workspace->matrix(name, 1, count * kPerSum).data);
  std::fill_n(sums, count, 0.0);
  return {sums, std::size_t(count)};
}

void NormLayer::declare(std::vector<ParameterSpec>& parameters) const {
  if (!*this) return;
  parameters.push_back({"norm.gain", 1, cols_, Init::kOne, DecayGroup::kNone});
  parameters.push_back({"norm.shift", 1, cols_, Init::kZero, DecayGroup::kNone});
  if (!batch()) return;
  parameters.push_back({"norm.running_mean", 1, cols_, Init::kZero, DecayGroup::kNone, 0, 0, false});
  parameters.push_back({"norm.running_variance", 1, cols_, Init::kOne, DecayGroup::kNone, 0, 0, false});
}

void NormLayer::declare(std::vector<SavedSpec>& saved) const {
  if (batch()) saved.push_back({"norm.stats", SavedSpec::Over::kDestinations, cols_, 2});
}

void NormLayer::statistics(Verbs& verbs, const LayerWeights& weights, ConstMatrixView x, Saved& saved) const {
  if (!batch()) return;
  const auto cols = std::size_t(cols_);
  Real* running_mean = weights.statistic(first_parameter_ + kRunningMean).data;
  Real* running_variance = weights.statistic(first_parameter_ + kRunningVariance).data;
  const double rows = std::max(verbs.reduced_rows(), 1.0);
  std::span<double> sums;
  if (verbs.training()) {
    sums = zeroed_sums(verbs.context(), "norm.sums", 2 * cols_);
    column_sums(verbs.context(), x, sums.data());
    verbs.reduce(sums);
  }
  MatrixView stats = saved.at(saved_at_);
  for (std::size_t c = 0; c < cols; ++c) {
    double mean = running_mean[c], variance = running_variance[c];
    if (verbs.training()) {
      mean = sums[c] / rows;
      variance = std::max(0.0, sums[cols + c] / rows - mean * mean);
    }
    if (verbs.training() && !verbs.repeating()) {
      const double unbiased = rows > 1 ? variance * rows / (rows - 1) : variance;
      running_mean[c] += Real(kRunningMomentum * (mean - running_mean[c]));
      running_variance[c] += Real(kRunningMomentum * (unbiased - running_variance[c]));
    }
    stats.at(0, Index(c)) = Real(mean);
    stats.at(1, Index(c)) = Real(1 / std::sqrt(variance + kEpsilon));
  }
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
