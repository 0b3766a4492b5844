// An object that isn't a pod, as far as decisions need it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/controller/observed.h"

namespace atl::ctl {

/// `object`: the API's. Of Secrets and ConfigMaps nothing is kept that a decision doesn't need, keys least of all.
ObjectView read_object(Kind kind, const nlohmann::json& object);

}  // namespace atl::ctl
