// A condition as the API's JSON: Kubernetes' own form, which GNNJobs and others' objects share.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/api/condition.h"

namespace atl::ctl {

Condition read_condition(const nlohmann::json& object);

/// Its texts bounded as schemas want them.
nlohmann::ordered_json condition_json(const Condition& condition);

}  // namespace atl::ctl
