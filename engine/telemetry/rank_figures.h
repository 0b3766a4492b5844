// Figures that each rank alone knows (memory, seconds, bytes), gathered when a run ends.
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.h"
#include "strategies/gnnpipe/figures.h"
#include "telemetry/record.h"

namespace atl {

/// Fills in, on every rank, the record's figures by rank and its sums over ranks. `phases` are this rank's
/// sums over the run. Collective.
void gather_rank_figures(Communicator& comm, const std::vector<Phase>& phases, RunRecord& record);

// The record keeps each rank's last explanation: which vertices of other ranks and which features matter to
// it.

/// Fills in the record's explanations on rank 0. Collective over ranks that all explain.
void gather_explained(Communicator& comm, const ExplainedFigures& mine, RunRecord& record);

// When the stages of a pipeline worked in a run's last epoch, and for what share of it they were idle.

/// Fills in the record's pipeline on rank 0, by rank 0's clock. Collective over ranks that all have stages.
void gather_pipeline(Communicator& comm, const StageTimes& times, RunRecord& record);

/// `ranks` holds every rank's times of the same epoch, on one clock. Of many chunks, neighbours are joined
/// into groups.
PipelineEpoch pipeline_epoch(std::span<const StageTimes> ranks);

}  // namespace atl
