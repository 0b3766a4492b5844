#include "train/record.h"

#include <algorithm>

namespace atl {

double median_epoch_seconds(const std::vector<EpochRecord>& epochs) {
  if (epochs.empty()) return 0;
  std::vector<double> seconds;
  seconds.reserve(epochs.size());
  for (const EpochRecord& epoch : epochs) seconds.push_back(epoch.epoch_seconds);
  const auto middle = seconds.begin() + std::ptrdiff_t(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  if (seconds.size() % 2 == 1) return *middle;
  return (*std::max_element(seconds.begin(), middle) + *middle) / 2;
}

}  // namespace atl
