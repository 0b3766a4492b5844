// A Job → the text of a manifest that load_job() reads back to the same Job, every default spelled out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "job/field.h"
#include "job/job.h"

namespace atl {

std::string write_job(const Job& job);

/// The paths at which two jobs differ although they must agree for one to resume from the other's checkpoint:
/// "training.seed: 1 → 2".
std::vector<std::string> changes_that_forbid_resuming(const Job& before, const Job& now);

/// One line per field that `counts` and doesn't have its default: jobs with equal keys are the same. Neither
/// defaults that an API server has spelled out nor fields of later releases change it.
std::string key_of(const Job& job, const std::function<bool(const Field&)>& counts);

/// The key of the fields that must not change on resuming. Equal keys mean that a checkpoint may be resumed.
std::string resume_key(const Job& job);

}  // namespace atl
