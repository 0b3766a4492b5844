// A job that may hold so much memory, and no more: what it leaves open is chosen so that its plan fits (MemoryBudget of
// job/strategies.h), before anything is started.
#pragma once

#include "command/job_data.h"

namespace atl {

/// The job as it is to be run: of those that it may become the first whose planned peak is within its budget on every rank. The job
/// itself where it has no budget. Prepares the graph of each that it looks at. Throws Error naming the smallest budget that would do.
LoadedJob within_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say);

/// Of a job whose ranks read the manifest as it was given. Throws Error that says what to give where it doesn't fit as it is.
void check_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say);

}  // namespace atl
