#include "model/row_finish.h"

#include <cmath>

namespace atl {
namespace {
constexpr double kEpsilon = 1e-5;        // of batch norm's variance, as in every framework
constexpr double kRunningMomentum = 0.1; // share of the newest statistics in the running ones

// Places of the parameters after first_parameter_, and of the saved matrices after first_saved_.
enum { kGain, kShift, kRunningMean, kRunningVariance };
enum { kPre, kStats };  // kStats: mean and 1/σ, a row each (layer norm) or a column each (batch norm)
}  // namespace

RowFinish::RowFinish(Options options, int first_parameter, int first_saved)
    : options_(options), first_parameter_(first_parameter), first_saved_(first_saved) {}

void RowFinish::declare(std::vector<ParameterSpec>& parameters) const {
  const Index cols = options_.cols;
  if (has_bias()) parameters.push_back({"bias", 1, cols, Init::kZero, options_.decay});
  if (!has_norm()) return;
  parameters.push_back({"norm.gain", 1, cols, Init::kOne, DecayGroup::kNone});
  parameters.push_back({"norm.shift", 1, cols, Init::kZero, DecayGroup::kNone});
  if (options_.norm != Norm::kBatch) return;
  parameters.push_back({"norm.running_mean", 1, cols, Init::kZero, DecayGroup::kNone, 0, 0, false});
  parameters.push_back({"norm.running_variance", 1, cols, Init::kOne, DecayGroup::kNone, 0, 0, false});
}

void RowFinish::declare(std::vector<SavedSpec>& saved) const {
  if (!has_norm()) return;
  saved.push_back({"pre", SavedSpec::Over::kDestinations, options_.cols});
  if (options_.norm == Norm::kLayer) saved.push_back({"row_stats", SavedSpec::Over::kDestinations, 2});
  if (options_.norm == Norm::kBatch) saved.push_back({"col_stats", SavedSpec::Over::kDestinations, options_.cols, 2});
}

MatrixView RowFinish::target(Saved& saved, MatrixView out) const {
  return has_norm() ? saved.at(first_saved_ + kPre) : out;
}

/// The epilogue with its parameters; norms' statistics live in `saved`.
Epilogue RowFinish::epilogue(Verbs& verbs, const LayerWeights& weights, Saved* saved) const {
  Epilogue e;
  if (has_bias()) e.bias = weights.value(first_parameter_).data;
  if (has_norm()) {
    const bool layer = options_.norm == Norm::kLayer;
    MatrixView stats = saved->at(first_saved_ + kStats);
    e.norm = layer ? Epilogue::Norm::kLayer : Epilogue::Norm::kBatch;
    e.gain = weights.value(norm_parameter(kGain)).data;
    e.shift = weights.value(norm_parameter(kShift)).data;
    if (layer) e.row_stats = stats;
    if (!layer) e.col_mean = stats.row(0), e.col_rstd = stats.row(1);
  }
  e.activation = options_.activation;
  e.dropout = verbs.dropout(options_.dropout, options_.dropout_purpose, options_.dropout_layer, verbs.destination_ids());
  return e;
}

Epilogue RowFinish::fused(Verbs& verbs, const LayerWeights& weights, ConstMatrixView residual) const {
  if (has_norm()) return {};
  Epilogue e = epilogue(verbs, weights, nullptr);
  e.residual = residual;
  return e;
}

/// stats (2, cols): mean and 1/σ of this batch in training (and the running statistics move), else the running ones.
void RowFinish::batch_statistics(Verbs& verbs, const LayerWeights& weights, ConstMatrixView pre, MatrixView stats) const {
  const auto cols = std::size_t(options_.cols);
  Real* running_mean = weights.statistic(norm_parameter(kRunningMean)).data;
  Real* running_variance = weights.statistic(norm_parameter(kRunningVariance)).data;
  const double rows = std::max(verbs.reduced_rows(), 1.0);
  std::vector<double> sums(verbs.training() ? 2 * cols : 0, 0.0);
  if (verbs.training()) {
    column_sums(verbs.context(), pre, sums.data());
    verbs.reduce(sums);
  }
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

void RowFinish::forward(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
                        ConstMatrixView residual) const {
  if (!has_norm()) return;  // fused() did it all
  ConstMatrixView pre = saved.at(first_saved_ + kPre);
  if (options_.norm == Norm::kBatch) batch_statistics(verbs, weights, pre, saved.at(first_saved_ + kStats));
  Epilogue e = epilogue(verbs, weights, &saved);
  e.residual = residual;
  axpby(verbs.context(), 1, pre, 0, out);
  apply(verbs.context(), e, out);
}

void RowFinish::backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView out, MatrixView d_out,
                         MatrixView d_residual) const {
  Context& ctx = verbs.context();
  const Epilogue e = epilogue(verbs, weights, &saved);
  EpilogueGradient gradient;
  if (has_bias()) gradient.bias = weights.gradient(first_parameter_).data;
  if (has_norm()) {
    gradient.gain = weights.gradient(norm_parameter(kGain)).data;
    gradient.shift = weights.gradient(norm_parameter(kShift)).data;
  }
  gradient.residual = d_residual;
  ConstMatrixView pre = has_norm() ? ConstMatrixView(saved.at(first_saved_ + kPre)) : ConstMatrixView();
  if (options_.norm != Norm::kBatch) return apply_backward(ctx, e, pre, out, d_out, gradient);

  const auto cols = std::size_t(options_.cols);
  std::vector<double> sums(2 * cols, 0.0);
  column_sums_backward(ctx, e, pre, out, d_out, sums.data());
  verbs.reduce(sums);
  MatrixView whole = ctx.workspace->matrix("finish.col_sums", 2, options_.cols);
  for (std::size_t i = 0; i < sums.size(); ++i) whole.data[i] = Real(sums[i]);
  apply_backward(ctx, e, pre, out, d_out, gradient, whole, verbs.reduced_rows());
}

}  // namespace atl
