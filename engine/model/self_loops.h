// Which self-loops a job's graph has.
#pragma once

#include "job/job.h"

namespace atl {

/// kKeep, kAdd or kRemove. kModel, as a run has written it, means graph_needs() (job/load.h).
SelfLoops self_loops_of(const Job& job);

}  // namespace atl
