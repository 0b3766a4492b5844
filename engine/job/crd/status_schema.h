// What the operator reports of a job: the schema of its status.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace atl {

nlohmann::ordered_json status_schema();

}  // namespace atl
