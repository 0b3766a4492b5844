// Every start of a run is an attempt with a number, kept in <output>/attempt. An attempt that was given up
// but still runs somewhere (its node was cut off, not dead) finds a higher number there and must not write
// any more. A cluster numbers the attempts of each job from 1. If a job takes over another's folder, the
// folder's numbers go on from where that one's ended.
#pragma once

#include <filesystem>
#include <string>

namespace atl {

/// Enters attempt `number`, or where it is 0 one more than the newest, and returns it. With a `run` (a name
/// without spaces), `number` counts that run's attempts, and the returned number, which counts the folder's,
/// may be higher. Rank 0 calls it before anything else is written to `output`. Throws Error when a newer
/// attempt has begun.
int claim_attempt(const std::filesystem::path& output, int number = 0, const std::string& run = "");

/// Throws Error when an attempt after the folder's `number` has begun, and when the folder has lost its
/// attempts, because it was removed during the run.
void check_attempt(const std::filesystem::path& output, int number);

// A run that starts over (--fresh) replaces the one before only with its first checkpoint. Until then
// <output>/replaced holds what the one before needs to go on. It comes back if the new run ends without a
// checkpoint.

/// Moves the checkpoints aside, with copies of the files about their run; does nothing without checkpoints.
/// All or nothing: a kill meanwhile changes nothing. Throws Error naming the file.
void set_aside(const std::filesystem::path& output);

/// Call when a run that began with its first epoch has its first checkpoint: removes what an earlier run left
/// here, its model and results, which nobody could tell from this run's, and then what was set aside.
void drop_run_before(const std::filesystem::path& output);

/// Call when the new run is over. Without a checkpoint of its own, brings back what was set aside and returns
/// true; otherwise removes what is left of the run before. After a kill meanwhile, the next call goes on.
bool bring_back(const std::filesystem::path& output);

}  // namespace atl
