// The stages of a pipeline over an epoch, as a report draws them: which chunk each worked on, and where it stood still.
#pragma once

#include <string>

#include "telemetry/record.h"

namespace atl {

/// A <figure> with a bar for each stage. Empty without a pipeline.
std::string stage_bars(const RunRecord& run);

}  // namespace atl
