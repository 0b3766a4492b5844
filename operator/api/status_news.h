// What is new in a status, and how soon that is worth a write: each status is written whole, to the API
// server's disk and to everybody who watches.
#pragma once

#include <optional>

#include "operator/api/status.h"

namespace atl::ctl {

/// For how long the earlier status may stay in place of the present one: for some time where numbers alone
/// are new, in progress or in what is said of a lack of room; 0 where more is, as the first progress is.
/// Nothing: both are written alike. A written status is bounded and rounded, and so is the one read back.
/// Comparing only statuses in memory could find a difference for ever.
std::optional<Seconds> may_stay(const Status& before, const Status& now);

}  // namespace atl::ctl
