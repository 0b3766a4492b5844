// How fields depend on each other: what must be given, what excludes what, what is ignored.
#pragma once

#include "job/job.h"
#include "job/problems.h"

namespace atl {

/// Adds errors for what can't be, warnings for fields that were given and have no effect.
void check_rules(const Job& job, const Given& given, Problems& problems);

}  // namespace atl
