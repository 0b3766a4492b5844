// training.learningRateSchedule as a function of the epoch.
#pragma once

#include "base/types.h"
#include "job/job.h"

namespace atl {

/// The rate of `epoch` (from 1): linear warm-up to `base` over the first warmup_epochs, then constant, a step
/// down by `factor` every step_epochs, or half a cosine from base to `minimum` at the last epoch.
double learning_rate_at(const ScheduleSpec& schedule, double base, Index epoch, Index epochs);

}  // namespace atl
