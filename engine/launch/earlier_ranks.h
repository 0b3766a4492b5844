// Ranks of an attempt that was given up and still run in our pod: the machine of their launcher is cut off,
// so nobody tells them to end. They hold the ports and the memory that ours need.
#pragma once

#include <string>

namespace atl {

/// Kills every `train` process here of the same run whose attempt is lower, and returns when they are gone
/// with all that they held, or after some seconds. Attempts are a run's own numbers (--run, --attempt).
void end_earlier_ranks(const std::string& run, int attempt);

}  // namespace atl
