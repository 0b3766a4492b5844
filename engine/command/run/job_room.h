// Whether a job has room: the memory and the processors that its ranks need, checked before any rank starts.
#pragma once

#include "command/job_data.h"
#include "plan/job_plan.h"

namespace atl {

/// The job's plan, for the memory of its ranks; its times mean nothing.
JobPlan memory_plan(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads);

/// What ranks train on: a GPU's memory isn't the host's.
enum class TrainsOn {
  kCpus,
  kGpus,
  kEither,  // the ranks themselves see whether there is a GPU
};
/// By --device and resources.gpus, as a rank chooses its device.
TrainsOn trains_on(const Arguments& arguments, const Job& job);

/// Throws Error where the ranks can't hold what they are planned to hold, within resources.memory and, if
/// they run `here`, in this machine's memory. Warns where it may become too much, or is too much on CPUs
/// alone.
void check_memory(const LoadedJob& loaded, const JobPlan& plan, bool here, TrainsOn on, Say say);
/// As check_memory(), for a job that isn't run yet: only warns.
void warn_of_memory(const LoadedJob& loaded, const JobPlan& plan, TrainsOn on, Say say);
/// Says the plan's section on the job's strategy: what servers hold, which layers stages have.
void say_section(const JobPlan& plan, const Job& job, Say say);

/// Says where the ranks' threads outnumber this machine's processors, and what that costs.
void check_processors(const Job& job, int threads, Say say);

// A job with a memory budget per rank: what the job leaves open is chosen, before anything is started, so
// that its plan fits (MemoryBudget of job/strategies.h).

/// The first of the budget's jobs whose planned peak is within the budget on every rank; the job itself where
/// it has no budget. Prepares the graph of each job that it plans. Throws Error, which names the smallest
/// budget that would do.
LoadedJob within_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say);

/// For a job whose ranks read the manifest as it was given. Where it doesn't fit so, throws Error that says
/// what to give.
void check_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say);

}  // namespace atl
