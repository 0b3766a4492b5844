#include "train/best.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tensor/copies.h"

namespace atl {
namespace {

/// The score of an epoch whose evaluation gave no number: below every number. Of such epochs the newest is
/// best.
constexpr double kNoNumber = std::numeric_limits<double>::lowest();

}  // namespace

Best::~Best() {
  try {
    wait_for_weights();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a later wait reports what failed
  }
}

/// The weights are copied in the stream, so that the host goes on with the next epoch.
void Best::consider(Index epoch, const Evaluation& evaluation, Parameters& parameters, DeviceStream& stream) {
  const bool by_loss = spec_.metric == StopMetric::kValidationLoss;
  const std::optional<double> value = by_loss ? evaluation.validation_loss : evaluation.validation;
  const double score = !value ? kNoNumber : by_loss ? -*value : *value;
  if (!std::isfinite(score)) return;
  const bool is_newest = !value && score_ == kNoNumber;
  if (epoch_ > 0 && score <= score_ && !is_newest) return;
  epoch_ = epoch;
  score_ = score;
  validation_ = evaluation.validation;
  test_ = evaluation.test;
  weights_.resize(1, Index(parameters.values().size()));
  stream.download(weights_.data(), parameters.values().data(), std::size_t(weights_.bytes()));
  bringing_ = &stream;
}

void Best::wait_for_weights() const {
  if (bringing_ != nullptr) bringing_->synchronise();
  bringing_ = nullptr;
}

Matrix& Best::weights() {
  wait_for_weights();
  return weights_;
}

bool Best::patience_over(Index epoch) const {
  return spec_.patience > 0 && epoch_ > 0 && epoch - epoch_ >= spec_.patience;
}

void Best::restore(Parameters& parameters) const {
  if (epoch_ == 0) return;
  wait_for_weights();
  HostArray values(parameters.device(), parameters.values());
  std::copy_n(weights_.data(), weights_.cols(), values.data());
  values.put();
}

void Best::save(std::map<std::string, double>& scalars) const {
  scalars["best.epoch"] = double(epoch_);
  scalars["best.score"] = score_;
  if (validation_) scalars["best.validation"] = *validation_;
  if (test_) scalars["best.test"] = *test_;
}

void Best::load(const std::map<std::string, double>& scalars) {
  auto find = [&](const char* name) -> std::optional<double> {
    const auto at = scalars.find(name);
    return at == scalars.end() ? std::nullopt : std::optional(at->second);
  };
  epoch_ = saved_count(find("best.epoch").value_or(0));
  score_ = find("best.score").value_or(0);
  validation_ = find("best.validation");
  test_ = find("best.test");
  // Older checkpoints have the epoch's number as the score of an evaluation without a number. Scores of
  // losses are never above 0.
  if (!validation_ && score_ > 0) score_ = kNoNumber;
}

void EpochSoFar::save(std::map<std::string, double>& scalars) const {
  scalars["epoch.loss"] = loss;
  scalars["epoch.vertices"] = vertices;
  scalars["epoch.seconds"] = seconds;
  scalars["epoch.bytesIntra"] = double(bytes_intra);
  scalars["epoch.bytesInter"] = double(bytes_inter);
  scalars["epoch.steps"] = double(steps);
}

void EpochSoFar::load(const std::map<std::string, double>& scalars) {
  const auto saved = [&](const char* name) {
    const auto found = scalars.find(name);
    return found == scalars.end() ? 0.0 : found->second;
  };
  loss = saved("epoch.loss");
  vertices = saved("epoch.vertices");
  seconds = saved("epoch.seconds");
  bytes_intra = saved_count(saved("epoch.bytesIntra"));
  bytes_inter = saved_count(saved("epoch.bytesInter"));
  steps = saved_count(saved("epoch.steps"));
}

}  // namespace atl
