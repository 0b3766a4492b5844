// Small tables of a report, below its heat maps: what a matrix says in a few words.
#pragma once

#include <string>

#include "telemetry/record.h"

namespace atl {

/// The five most frequent mistakes, worst first. Empty without any.
std::string confused_pairs(const ConfusionMatrix& confusion);

/// Metrics of the test pairs. Empty without them.
std::string links_table(const std::optional<LinkMetrics>& links);

/// Bytes within and between servers, and the busiest pair of ranks. Empty without bytes by pair.
std::string traffic_table(const RunRecord& run);

}  // namespace atl
