// What each rank alone knows of itself, gathered when a run ends: memory, seconds, bytes.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "telemetry/record.h"

namespace atl {

/// Fills in, on every rank, what the record says by rank or sums over ranks; `phases` are this rank's sums over the run.
/// Collective.
void gather_rank_figures(Communicator& comm, const std::vector<Phase>& phases, RunRecord& record);

}  // namespace atl
