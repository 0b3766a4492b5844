// The curves of a report: loss, metric, epoch time and learning rate or memory, by epoch.
#pragma once

#include <string>

#include "train/record.h"

namespace atl {

/// The manifest's name of a metric as a reader knows it: "F1 (micro)" for f1Micro.
std::string metric_title(const std::string& metric);

/// Cards with a chart each; empty without epochs.
std::string report_curves(const RunRecord& run);

}  // namespace atl
