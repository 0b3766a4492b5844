// Figures that each rank alone knows (memory, seconds, bytes), gathered when a run ends.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "telemetry/record.h"

namespace atl {

/// Fills in, on every rank, the record's figures by rank and its sums over ranks. `phases` are this rank's
/// sums over the run. Collective.
void gather_rank_figures(Communicator& comm, const std::vector<Phase>& phases, RunRecord& record);

// The record keeps each rank's last explanation: which vertices of other ranks and which features matter to
// it.

/// Fills in the record's explanations on rank 0. Collective over ranks that all explain.
void gather_explained(Communicator& comm, const ExplainedFigures& mine, RunRecord& record);

}  // namespace atl
