// A run's state as a checkpoint holds it, and back: resumed = never stopped.
#pragma once

#include "dataset/dataset.h"
#include "train/best.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/whole_tensors.h"
#include "train/epoch_so_far.h"
#include "train/optimizer.h"

namespace atl {

/// What a checkpoint of this job belongs to: another data set, model or seed is another run.
Identity identity_of(const Job& job, const DatasetMeta& dataset);

/// What training changes.
struct RunState {
  Parameters& parameters;
  Optimizer& optimizer;
  Best& best;
  EpochSoFar& epoch;
};

/// As it is at `reached`; on rank 0 it is whole. `tensors`, fresh, and `run` outlive it and don't change until it is
/// written. Collective.
CheckpointState state_of(const RunState& run, const Job& job, const DatasetMeta& dataset, int ranks,
                         const Reached& reached, WholeTensors& tensors);

/// What this rank holds of it. Throws Error saying what differs where the checkpoint is another run's.
void load_state(const LoadedCheckpoint& checkpoint, const Job& job, const DatasetMeta& dataset,
                const RunState& run);

}  // namespace atl
