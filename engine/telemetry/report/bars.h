// Stacked bars of a report: where each rank's time went, and what memory each server's ranks took.
#pragma once

#include <string>
#include <vector>

#include "telemetry/record.h"

namespace atl {

/// A <figure>; more than 64 ranks are shown as means over neighbours. Empty without phases.
std::string phase_bars(const std::vector<std::vector<Phase>>& phases_by_rank);

/// A <figure>, a bar for each server and in it a piece for each of its ranks; more than 64 servers as means over neighbours. Empty
/// without figures.
std::string memory_bars(const RunRecord& run);

}  // namespace atl
