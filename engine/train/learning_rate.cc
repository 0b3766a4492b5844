#include "train/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace atl {

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
