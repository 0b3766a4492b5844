// A run that starts over (--fresh) replaces the one before with its first checkpoint, and not before: until then what that one
// needs to go on lies in <output>/replaced, and comes back where the new one ends without a checkpoint.
#pragma once

#include <filesystem>

namespace atl {

/// Moves the checkpoints aside, with copies of the files that tell their story. Nothing where there are none. Whole or not at
/// all: a kill on the way changes nothing. Throws Error naming the file.
void set_aside(const std::filesystem::path& output);

/// The new run has a checkpoint: what was set aside goes.
void drop_set_aside(const std::filesystem::path& output);

/// The new run is over: brings back what was set aside where it has no checkpoint, and returns true; drops it otherwise.
/// From a kill on the way the next call goes on.
bool bring_back(const std::filesystem::path& output);

}  // namespace atl
