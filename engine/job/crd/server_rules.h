// Every rule in CEL: those written beside the engine's (rules/), and those that follow from the field table.
#pragma once

#include <vector>

#include "job/rule.h"

namespace atl {

std::vector<ServerRule> server_rules();

/// What of a job that exists may change, and when; on the object as a whole, because it depends on the status. Scopes
/// and fields are paths from the root: "spec.placement".
std::vector<ServerRule> change_rules();

}  // namespace atl
