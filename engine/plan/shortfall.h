// Whether the memory that a job's ranks will have is enough for what they are planned to hold, and what would
// help where it isn't.
#pragma once

#include <optional>
#include <string>

#include "base/memory.h"
#include "plan/job_plan.h"

namespace atl {

struct Shortfall {
  /// The job can't run: its plan would have to be wrong by more than a tenth, which tests/e2e/plan_and_bench
  /// rules out.
  bool certain = false;
  std::string text;  // one line: what is needed, what there is, what helps
};

/// Where all ranks run on one machine.
std::optional<Shortfall> shortfall_here(const JobPlan& plan, const MemoryRoom& room);

/// Of resources.memory, which on a cluster is the limit of a pod with all ranks of a server together. None
/// without it.
std::optional<Shortfall> shortfall_of_resources(const JobPlan& plan, const Job& job);

}  // namespace atl
