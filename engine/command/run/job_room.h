// Whether a job has room: the memory and the processors that its ranks need, before any of them is started.
#pragma once

#include "command/job_data.h"
#include "plan/job_plan.h"

namespace atl {

/// The job's plan for what its ranks hold; its times mean nothing.
JobPlan memory_plan(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads);

/// Throws Error where the ranks can't hold what they are planned to hold: of resources.memory, and, where
/// they run `here`, of this machine. Says where it may become too much.
void check_memory(const LoadedJob& loaded, const JobPlan& plan, bool here, Say say);
/// The same, for a job that isn't to be run: only says it.
void warn_of_memory(const LoadedJob& loaded, const JobPlan& plan, Say say);
/// What the plan says of the job's strategy alone: what servers hold, which layers stages have.
void say_section(const JobPlan& plan, const Job& job, Say say);

/// Says where ranks of so many threads are more than this machine's processors, and what that costs.
void check_processors(const Job& job, int threads, Say say);

// A job that may hold so much memory, and no more: what it leaves open is chosen so that its plan fits
// (MemoryBudget of job/strategies.h), before anything is started.

/// The job as it is to be run: of those that it may become the first whose planned peak is within its budget
/// on every rank. The job itself where it has no budget. Prepares the graph of each that it looks at. Throws
/// Error naming the smallest budget that would do.
LoadedJob within_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say);

/// Of a job whose ranks read the manifest as it was given. Throws Error that says what to give where it
/// doesn't fit as it is.
void check_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say);

}  // namespace atl
