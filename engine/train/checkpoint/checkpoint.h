// Checkpoints: what a killed run needs to go on as if nothing had happened.
//
//   <output>/attempt                            number of the newest attempt at this run: the fence
//   <output>/checkpoints/epoch-000050/          50 epochs completed; appears whole, by rename
//     state.safetensors                         state of the run: weights, optimiser, scalars, identity
//     part-0.safetensors …                      state that only a part's rank has (stale buffers), if any;
//                                               named by part, since another rank may train it after a resume
//     COMPLETE                                  JSON: every file with its seal; written last
//   <output>/checkpoints/epoch-000050.step-000012/   50 epochs and 12 steps of the next one
//   <output>/checkpoints/.epoch-000050.attempt-3/    what attempt 3 is writing
//
// Rank 0, which alone sees the folder (run_state.h), calls write_part_state() for every part and then
// commit(). An attempt that was given up (its node was cut off, not dead) writes into a folder of its own and
// is refused at commit.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "train/checkpoint/checkpoint_state.h"

namespace atl {

/// Whether the run's folder has a checkpoint that was completed; it may have been damaged since.
bool has_checkpoint(const std::filesystem::path& output);

/// One per rank; some functions are for rank 0 only, as they say.
class CheckpointStore {
 public:
  /// `keep`: number of complete checkpoints kept after a commit, at least 1.
  CheckpointStore(std::filesystem::path output, int attempt, int keep);

  /// Rank 0: writes part-<part>.safetensors of the checkpoint at `at` and returns its seal. `parts` says
  /// which rank has which part. Optional.
  std::string write_part_state(const Reached& at, int part, std::span<const TensorView> tensors,
                               const std::string& parts) const;
  /// Rank 0, after a barrier: writes the rest, makes the checkpoint visible and drops old ones. The files
  /// with `part_seals` (by part; none: no rank has its own state) belong to it. Throws Error when a newer
  /// attempt has begun or the disk is full; earlier checkpoints then stay as they are.
  void commit(const CheckpointState& state, std::span<const std::string> part_seals) const;

  /// Called by rank 0: the newest intact checkpoint, or nothing where there is no checkpoint. A torn or
  /// altered one is skipped, and `warnings` says so. Throws Error where all are torn or altered, because a
  /// run from the start would replace files that may still be repaired. Calls `goes_on` after each file,
  /// because other ranks wait meanwhile.
  std::optional<LoadedCheckpoint> newest(std::vector<std::string>& warnings,
                                         FunctionRef<void()> goes_on) const;
  /// Rank 0: a part's state in the checkpoint at `at`; none where none was written.
  std::optional<SafetensorsFile> read_part_state(const Reached& at, int part) const;
  /// Rank 0: removes half-written files of interrupted attempts.
  void remove_partial() const;

 private:
  std::filesystem::path place(const Reached& at) const;
  std::filesystem::path partial(const Reached& at) const;
  void write_and_show(const CheckpointState& state, std::span<const std::string> part_seals) const;
  void make_visible(const Reached& at) const;
  void drop_superseded(const Reached& newest) const;
  void remove_traces(const std::filesystem::path& partial) const;

  std::filesystem::path output_, folder_;
  int attempt_, keep_;
};

// Every start of a run is an attempt with a number, kept in <output>/attempt. An attempt that was given up
// but still runs somewhere (its node was cut off, not dead) finds a higher number there and must not write
// any more. A cluster numbers the attempts of each job from 1. If a job takes over another's folder, the
// folder's numbers go on from where that one's ended.

/// Enters attempt `number`, and returns it; 0: one more than the newest. With a `run` (a name without
/// spaces), `number` counts that run's attempts, and the returned number, which counts the folder's, may be
/// higher. Rank 0 calls it before anything else is written to `output`. Throws Error when a newer attempt has
/// begun.
int claim_attempt(const std::filesystem::path& output, int number = 0, const std::string& run = "");

/// Throws Error when an attempt after the folder's `number` has begun, and when the folder has lost its
/// attempts, because it was removed during the run.
void check_attempt(const std::filesystem::path& output, int number);

// A run that starts over (--fresh) replaces the one before only with its first checkpoint. Until then
// <output>/replaced holds what the one before needs to go on. It comes back if the new run ends without a
// checkpoint.

/// Returns the name of a file that a run would replace though no run wrote it, as a manifest of the user's
/// that is called job.yaml, or a model of another program. "": there is no such file. Where a run has begun,
/// all files of these names are the run's.
std::string file_of_no_run(const std::filesystem::path& output);

/// Moves the checkpoints aside, with copies of the files about their run; does nothing without checkpoints.
/// All or nothing: a kill meanwhile changes nothing. Throws Error naming the file.
void set_aside(const std::filesystem::path& output);

/// Call when a run that began with its first epoch has its first checkpoint: removes what an earlier run left
/// here, its model and results, which nobody could tell from this run's, and then what was set aside.
void drop_run_before(const std::filesystem::path& output);

/// Call when the new run is over. If it has no checkpoint of its own, this brings back what was set aside,
/// and returns true. Otherwise it removes what is left of the run before. If it is killed meanwhile, the next
/// call goes on.
bool bring_back(const std::filesystem::path& output);

}  // namespace atl
