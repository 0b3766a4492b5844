// A ServerRule as an entry of x-kubernetes-validations.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "job/rule.h"

namespace atl {

nlohmann::ordered_json rule_json(const ServerRule& rule);

}  // namespace atl
