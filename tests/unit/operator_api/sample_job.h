// A GNNJob of 4 ranks on 2 servers, as the API would give it, with changes by JSON pointer.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "base/json.h"
#include "operator/api/gnnjob.h"

namespace atl::ctl {

using Changes = std::initializer_list<std::pair<const char*, nlohmann::json>>;

nlohmann::json sample_job_json(Changes changes = {});

/// A job that has keys.
GnnJob sample_job(Changes changes = {});

}  // namespace atl::ctl
