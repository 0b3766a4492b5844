// When the stages of a pipeline worked in a run's last epoch, and for what share of it they were idle.
#pragma once

#include <span>

#include "comm/communicator.h"
#include "strategies/gnnpipe/figures.h"
#include "telemetry/record.h"

namespace atl {

/// Fills in the record's pipeline on rank 0, by rank 0's clock. Collective over ranks that all have stages.
void gather_pipeline(Communicator& comm, const StageTimes& times, RunRecord& record);

/// `ranks` holds every rank's times of the same epoch, on one clock. Of many chunks, neighbours are joined
/// into groups.
PipelineEpoch pipeline_epoch(std::span<const StageTimes> ranks);

}  // namespace atl
