// Ranks of an earlier attempt that still run in our pod. Nobody tells them to end, because their launcher's
// machine is cut off, and they hold the ports and the memory that our ranks need.
#pragma once

#include <string>

namespace atl {

/// Kills every `train` process here of the same run with a lower attempt. Returns when they and all that they
/// held are gone, or after some seconds. A run numbers its attempts itself (--run, --attempt).
void end_earlier_ranks(const std::string& run, int attempt);

}  // namespace atl
