// What a rank does, from its sizes alone: its steps and operations (plan/dry_run.h), with costs that are a model, or none.
#pragma once

#include "plan/dry_run.h"
#include "simulate/recording.h"

namespace atl {

/// The run's first epochs. Takes milliseconds, and memory for the ids of the rank's rows. A segment takes as long as its kernels would at
/// these rates; null: costs mean nothing.
RankRecording dry_recording(const DryRunInput& input, int epochs, const MachineRates* rates = nullptr);

}  // namespace atl
