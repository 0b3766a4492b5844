// Whether a job's ranks will have the memory that they are planned to hold, and what would help if not.
#pragma once

#include <optional>
#include <string>

#include "base/memory.h"
#include "plan/job_plan.h"

namespace atl {

struct Shortfall {
  /// The job can't run, unless its plan is wrong by more than a tenth, which tests/e2e/plan_and_bench rules
  /// out.
  bool certain = false;
  std::string text;  // one line: what is needed, what there is, what helps
};

/// For a job whose ranks all run on one machine.
std::optional<Shortfall> shortfall_here(const JobPlan& plan, const MemoryRoom& room);

/// Checks resources.memory, which on a cluster is the limit of a pod with all ranks of a server together.
/// None where the job doesn't set it.
std::optional<Shortfall> shortfall_of_resources(const JobPlan& plan, const Job& job);

}  // namespace atl
