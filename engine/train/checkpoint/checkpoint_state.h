// The state of a run as a safetensors file holds it: tensors as they are, everything else as metadata.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "telemetry/record.h"
#include "train/checkpoint/safetensors.h"

namespace atl {

/// What a checkpoint belongs to. A run with other values is not the run that wrote it: "dataset" (checksum),
/// "model", "strategy", … ; whatever may change on resume (ranks, epochs) is not in here.
using Identity = std::map<std::string, std::string>;

/// What is written. Tensors are views; random state needs no tensor, for draws are keyed by (seed, step).
struct CheckpointState {
  Reached reached;
  std::int64_t step = 0;  // optimiser steps taken
  std::uint64_t seed = 0;
  int ranks = 1;  // of the run that wrote it
  Identity identity;
  // best validation, patience used, an epoch's loss so far, …; kept bit-equal
  std::map<std::string, double> scalars;
  std::vector<TensorView> tensors;
};

/// What is read: `state.tensors` are views into `file`.
struct LoadedCheckpoint {
  std::filesystem::path folder;
  CheckpointState state;
  SafetensorsFile file;
};

/// Writes `state` atomically and returns the file's seal.
std::string write_checkpoint_state(const std::filesystem::path& path, const CheckpointState& state);

/// Throws Error unless the file is whole and is a checkpoint's state.
LoadedCheckpoint read_checkpoint_state(const std::filesystem::path& path);
/// The same of a file that another rank has read.
LoadedCheckpoint checkpoint_state_of(SafetensorsFile file);

/// Throws Error listing every key whose value differs, and both values, with the remedy.
void check_identity(const LoadedCheckpoint& checkpoint, const Identity& expected);

}  // namespace atl
