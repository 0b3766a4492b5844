// What features held by columns save, as a person reads it.
#pragma once

#include <optional>
#include <string>

#include "plan/job_plan.h"

namespace atl {

/// Lines with an empty one behind them; "": features are held by rows.
std::string to_text(const std::optional<ColumnsPlan>& plan);

}  // namespace atl
