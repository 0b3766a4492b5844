// The curves of a report: loss, metric, epoch time and learning rate or memory, by epoch.
#pragma once

#include <string>

#include "telemetry/record.h"

namespace atl {

/// Cards with a chart each; empty without epochs.
std::string report_curves(const RunRecord& run);

}  // namespace atl
