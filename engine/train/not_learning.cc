#include "train/not_learning.h"

#include <fmt/format.h>

#include <algorithm>

namespace atl {
namespace {

constexpr double kFallen = 0.99;  // of the first loss
constexpr std::size_t kRemedies = 2;

/// What usually is the reason, the likeliest first.
std::vector<std::string> remedies(const Job& job) {
  const TrainingSpec& t = job.training;
  const double rate = t.optimizer.learning_rate, high = t.optimizer.kind == OptimizerKind::kSgd ? 1 : 0.02;
  std::vector<std::string> all;
  if (rate > high) all.push_back(fmt::format("lower training.optimizer.learningRate ({})", rate));
  if (rate < high / 100) all.push_back(fmt::format("raise training.optimizer.learningRate ({})", rate));
  if (job.model.norm == Norm::kNone) all.emplace_back("set model.norm: layer");
  if (t.dropout >= 0.7) all.push_back(fmt::format("lower training.dropout ({})", t.dropout));
  if (t.optimizer.weight_decay.convolutions >= 0.01)
    all.push_back(
        fmt::format("lower training.optimizer.weightDecay ({})", t.optimizer.weight_decay.convolutions));
  if (job.dataset.normalise_features == NormaliseFeatures::kNone)
    all.emplace_back("set dataset.normaliseFeatures: row");
  if (job.model.layers > 3) all.push_back(fmt::format("lower model.layers ({})", job.model.layers));
  all.push_back(fmt::format("try another training.optimizer.learningRate than {}", rate));
  all.emplace_back("check that the labels belong to the data set's rows");
  all.resize(kRemedies);
  return all;
}

}  // namespace

Index epochs_to_learn(Index epochs) {
  return std::max<Index>(5, epochs / 10);
}

std::string not_learning(const Job& job, const std::vector<EpochRecord>& epochs) {
  if (epochs.empty() || epochs.front().epoch != 1) return "";
  const double least = std::ranges::min(epochs, {}, &EpochRecord::loss).loss, first = epochs.front().loss;
  if (least < kFallen * first) return "";
  const std::vector<std::string> two = remedies(job);
  return fmt::format(
      "the loss hasn't fallen in {} epochs (it was {:.4g}, and at least {:.4g} since): {}, or {}",
      epochs.size(), first, least, two[0], two[1]);
}

}  // namespace atl
