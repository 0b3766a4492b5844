// Every start of a run is an attempt with a number, kept in <output>/attempt. An attempt that was given up
// but still runs somewhere (its node was cut off, not dead) finds a higher number there and must not write
// any more.
#pragma once

#include <filesystem>

namespace atl {

/// Enters the attempt `number`, or one more than the newest where 0 is given, and returns it. Rank 0 calls it
/// before anything else is written to `output`. Throws Error when a newer attempt has begun.
int claim_attempt(const std::filesystem::path& output, int number = 0);

/// Throws Error when a newer attempt than `number` has begun.
void check_attempt(const std::filesystem::path& output, int number);

}  // namespace atl
