// A run's state as a checkpoint holds it, and back: resumed = never stopped.
#pragma once

#include <string>
#include <vector>

#include "train/best.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace atl {

/// What a checkpoint of this job belongs to: another data set, model or seed is another run.
Identity identity_of(const Job& job, const DatasetMeta& dataset);

/// Views into trainer and best; both outlive it and don't change until it is written.
CheckpointState state_of(Trainer& trainer, Best& best, const Job& job, const DatasetMeta& dataset, int ranks,
                         Index epoch);

/// Throws Error saying what differs where the checkpoint is another run's.
void load_state(const LoadedCheckpoint& checkpoint, const Job& job, const DatasetMeta& dataset,
                Trainer& trainer, Best& best);

/// Named views of the parameters, by `values` laid out as Parameters::values(); names begin with `prefix`.
std::vector<TensorView> named_parameters(const Parameters& parameters, const Real* values,
                                         const std::string& prefix, bool trainable_only);

}  // namespace atl
