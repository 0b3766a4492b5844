// A Job → the text of a manifest that load_job() reads back to the same Job, every default spelled out.
#pragma once

#include <string>
#include <vector>

#include "job/job.h"

namespace atl {

std::string write_job(const Job& job);

/// The paths at which two jobs differ and which must not change between the run that wrote a checkpoint and
/// the run that resumes it: "training.seed: 1 → 2".
std::vector<std::string> changes_that_forbid_resuming(const Job& before, const Job& now);

/// One line a field that must not change on resuming: equal keys mean that a checkpoint may be resumed.
std::string resume_key(const Job& job);

}  // namespace atl
