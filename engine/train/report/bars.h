// Stacked bars of a report: where each rank's time went.
#pragma once

#include <string>
#include <vector>

#include "train/telemetry/record.h"

namespace atl {

/// A <figure>; more than 64 ranks are shown as means over neighbours. Empty without phases.
std::string phase_bars(const std::vector<std::vector<Phase>>& phases_by_rank);

}  // namespace atl
