#include "telemetry/record.h"

#include <fmt/format.h>
#include <algorithm>

namespace atl {
namespace {

/// Whether an evaluation came between this epoch and the next.
bool was_evaluated(const EpochRecord& e) {
  return e.train || e.validation || e.test;
}

}  // namespace

double seconds_of_phase(const std::vector<Phase>& phases, const std::string& name) {
  for (const Phase& phase : phases) {
    if (phase.name == name) return phase.seconds;
  }
  return 0;
}

std::vector<const EpochRecord*> steady_epochs(const std::vector<EpochRecord>& epochs, Index resumed_from) {
  std::vector<const EpochRecord*> steady;
  for (std::size_t i = 1; i < epochs.size(); ++i) {
    const bool first = epochs[i].epoch <= resumed_from + 1;
    const bool after_checkpoint = seconds_of_phase(epochs[i].own.phases, "checkpoint") > 0;
    if (!first && !was_evaluated(epochs[i - 1]) && !after_checkpoint) steady.push_back(&epochs[i]);
  }
  return steady;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::string divergence(const std::vector<EpochRecord>& epochs) {
  constexpr double kFar = 2;  // a loss that merely swings stays below
  if (epochs.size() < 2 || epochs.back().loss <= kFar * epochs.front().loss) return "";
  return fmt::format(
      "the loss ended at {:.4g}, far above the {:.4g} of the first epoch: training has diverged",
      epochs.back().loss, epochs.front().loss);
}

double median_epoch_seconds(const std::vector<EpochRecord>& epochs) {
  std::vector<double> seconds;
  seconds.reserve(epochs.size());
  for (const EpochRecord& epoch : epochs) seconds.push_back(epoch.epoch_seconds);
  return median(std::move(seconds));
}

}  // namespace atl
