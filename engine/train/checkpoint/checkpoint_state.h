// The state of a run as a safetensors file: tensors, with everything else as metadata.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "telemetry/record.h"
#include "train/checkpoint/safetensors.h"

namespace atl {

/// What a checkpoint belongs to: "dataset" (checksum), "model", "strategy", … A run with other values is
/// another run. What may change on resuming (ranks, epochs) isn't in it.
using Identity = std::map<std::string, std::string>;

/// The state to write. Tensors are views. Random state needs no tensor, because draws are keyed by (seed,
/// step).
struct CheckpointState {
  Reached reached;
  std::int64_t step = 0;  // optimiser steps taken
  std::uint64_t seed = 0;
  int ranks = 1;  // number of ranks of the run that wrote it
  Identity identity;
  // best validation, patience used, an epoch's loss so far, …; kept bit-equal
  std::map<std::string, double> scalars;
  std::vector<TensorView> tensors;
};

/// The state that was read; `state.tensors` are views into `file`.
struct LoadedCheckpoint {
  std::filesystem::path folder;
  CheckpointState state;
  SafetensorsFile file;
};

/// Writes `state` atomically and returns the file's seal.
std::string write_checkpoint_state(const std::filesystem::path& path, const CheckpointState& state);

/// Throws Error unless the file is intact and holds a checkpoint's state.
LoadedCheckpoint read_checkpoint_state(const std::filesystem::path& path);
/// The same for a file that another rank has read.
LoadedCheckpoint checkpoint_state_of(SafetensorsFile file);

/// Throws Error with the remedy and every key whose values differ, with both values.
void check_identity(const LoadedCheckpoint& checkpoint, const Identity& expected);

}  // namespace atl
