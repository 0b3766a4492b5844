// What a rank does, from its sizes alone: its steps and operations without costs (plan/dry_run.h).
#pragma once

#include "plan/dry_run.h"
#include "plan/simulate/recording.h"

namespace atl {

/// The run's first epochs. Takes milliseconds, and memory for the ids of the rank's rows.
RankRecording dry_recording(const DryRunInput& input, int epochs);

}  // namespace atl
