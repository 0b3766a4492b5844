// Every start of a run is an attempt with a number, kept in <output>/attempt. An attempt that was given up
// but still runs somewhere (its node was cut off, not dead) finds a higher number there and must not write
// any more. A cluster counts the attempts of each of its jobs from 1: of one that takes over another's folder
// they go on from where that one's ended.
#pragma once

#include <filesystem>
#include <string>

namespace atl {

/// Enters the attempt `number`, or one more than the newest where 0 is given, and returns it. With the name
/// of a `run`, which holds no space, it is that run's number, and the folder's, which is returned, may be
/// higher. Rank 0 calls it before anything else is written to `output`. Throws Error when a newer attempt has
/// begun.
int claim_attempt(const std::filesystem::path& output, int number = 0, const std::string& run = "");

/// Throws Error when a newer attempt than the folder's `number` has begun, and when the folder has lost its
/// attempts: it was removed under the run.
void check_attempt(const std::filesystem::path& output, int number);

// A run that starts over (--fresh) replaces the one before with its first checkpoint, and not before: until
// then what that one needs to go on lies in <output>/replaced, and comes back where the new one ends without
// a checkpoint.

/// Moves the checkpoints aside, with copies of the files that tell their story. Nothing where there are none.
/// Whole or not at all: a kill on the way changes nothing. Throws Error naming the file.
void set_aside(const std::filesystem::path& output);

/// The new run has a checkpoint: what was set aside goes.
void drop_set_aside(const std::filesystem::path& output);

/// The new run is over: brings back what was set aside where it has no checkpoint, and returns true; drops it
/// otherwise. From a kill on the way the next call goes on.
bool bring_back(const std::filesystem::path& output);

}  // namespace atl
