// A job's ranks without running any: what they send is exact, what they compute costs what their kernels' work takes at a machine's rates
// (dry_recording.h).
#pragma once

#include "plan/batch_source.h"
#include "simulate/record.h"

namespace atl {

/// `rates`: of a rank. Takes milliseconds a rank, and memory for the ids of one rank's rows; of mini-batches as record_modelled_batches(). Recording::works is left
/// to whoever has a plan.
Recording record_modelled(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                          const RecordOptions& options, const MachineRates& rates);

/// Of a job that trains on mini-batches: each epoch of the recording is one step. Batches are drawn as in a plan
/// (dry_batches.h); training on each is its own, and making them, and their messages, are those of a mean one.
Recording record_modelled_batches(const Job& job, const Dataset& dataset, const BatchSource& source,
                                  const RecordOptions& options, const MachineRates& rates);

}  // namespace atl
