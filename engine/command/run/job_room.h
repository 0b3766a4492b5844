// Checks whether a job has room: the memory and the processors that its ranks need, before any rank starts.
#pragma once

#include "command/job_data.h"
#include "plan/job_plan.h"

namespace atl {

/// The job's plan for the memory of its ranks. Its times mean nothing.
JobPlan memory_plan(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads);

/// What ranks train on. It matters because a GPU's memory isn't the host's.
enum class TrainsOn {
  kCpus,
  kGpus,
  kEither,  // ranks find out themselves whether there is a GPU
};
/// What the ranks will train on, by --device and resources.gpus, as a rank chooses its device.
TrainsOn trains_on(const Arguments& arguments, const Job& job);

/// Throws Error if the ranks can't hold what they are planned to hold, within resources.memory and, if they
/// run `here`, in this machine's memory. Warns if it may become too much, or if it is too much only on CPUs.
void check_memory(const LoadedJob& loaded, const JobPlan& plan, bool here, TrainsOn on, Say say);
/// As check_memory(), for a job that isn't run yet: only warns.
void warn_of_memory(const LoadedJob& loaded, const JobPlan& plan, TrainsOn on, Say say);
/// Says the plan's section on the job's strategy: what servers hold, which layers stages have.
void say_section(const JobPlan& plan, const Job& job, Say say);

/// Warns if the ranks' threads outnumber this machine's processors, and says what that costs.
void check_processors(const Job& job, int threads, Say say);

// Settles a job with a memory budget per rank. What the job leaves open is chosen before anything is started,
// so that its plan fits (MemoryBudget of job/strategies.h).

/// The first of the budget's jobs whose planned peak is within the budget on every rank; the job itself where
/// it has no budget. Prepares the graph of each job that it plans. Throws Error, which names the smallest
/// budget that would do.
LoadedJob within_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say);

/// Checks the budget of a job whose ranks read the manifest as it was given. If the job doesn't fit as it is,
/// throws Error that says what to give.
void check_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say);

}  // namespace atl
