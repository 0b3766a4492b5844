// How fields depend on each other: what must be given, what excludes what, what is ignored.
#pragma once

#include <vector>

#include "job/job.h"
#include "job/problems.h"
#include "job/rule.h"

namespace atl {

/// Every rule but "a required field is there" and "the name is one", which the schema says by itself.
const std::vector<Rule>& all_rules();

/// Adds errors for what can't be, warnings for fields that were given and have no effect.
void check_rules(const Job& job, const Given& given, Problems& problems);

}  // namespace atl
