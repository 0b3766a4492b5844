// Every start of a run is an attempt with a number, kept in <output>/attempt. An attempt that was given up
// but still runs somewhere (its node was cut off, not dead) finds a higher number there and must not write
// any more. A cluster counts the attempts of each of its jobs from 1: of one that takes over another's folder they go on
// from where that one's ended.
#pragma once

#include <filesystem>
#include <string>

namespace atl {

/// Enters the attempt `number`, or one more than the newest where 0 is given, and returns it. With the name of a `run`,
/// which holds no space, it is that run's number, and the folder's, which is returned, may be higher. Rank 0 calls it
/// before anything else is written to `output`. Throws Error when a newer attempt has begun.
int claim_attempt(const std::filesystem::path& output, int number = 0, const std::string& run = "");

/// Throws Error when a newer attempt than the folder's `number` has begun, and when the folder has lost its attempts: it was
/// removed under the run.
void check_attempt(const std::filesystem::path& output, int number);

}  // namespace atl
