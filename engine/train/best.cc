#include "train/best.h"

#include <algorithm>
#include <cmath>

#include "tensor/copies.h"
#include "train/saved_count.h"

namespace atl {

void Best::consider(Index epoch, const Evaluation& evaluation, Parameters& parameters) {
  const bool by_loss = spec_.metric == StopMetric::kValidationLoss;
  const std::optional<double> value = by_loss ? evaluation.validation_loss : evaluation.validation;
  const double score =
      value ? (by_loss ? -*value : *value) : double(epoch);  // without validation: the newest
  if (!std::isfinite(score) || (epoch_ > 0 && score <= score_)) return;
  epoch_ = epoch;
  score_ = score;
  validation_ = evaluation.validation;
  test_ = evaluation.test;
  weights_.resize(1, Index(parameters.values().size()));
  HostArray values(parameters.device(), parameters.values());
  std::copy_n(values.data(), weights_.cols(), weights_.data());
}

bool Best::patience_over(Index epoch) const {
  return spec_.patience > 0 && epoch_ > 0 && epoch - epoch_ >= spec_.patience;
}

void Best::restore(Parameters& parameters) const {
  if (epoch_ == 0) return;
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
}

}  // namespace atl
