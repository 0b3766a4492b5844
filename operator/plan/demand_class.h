// Which gangs are alike: for gangs of one class, whosever they are, the same cluster has the same answer. So one that doesn't fit
// is an answer for all of them.
#pragma once

#include <string>

#include "operator/plan/gang.h"

namespace atl::ctl {

/// All that a plan turns on but the job's name, as a text to compare.
std::string demand_class(const Gang& gang);

}  // namespace atl::ctl
