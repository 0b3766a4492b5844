// A run's state as a checkpoint holds it, and back: resumed = never stopped.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "dataset/dataset.h"
#include "strategies/exchange/exchange.h"
#include "train/best.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/whole_tensors.h"
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

/// As it is at `reached`; on rank 0 it is whole. `tensors`, fresh, and `run` outlive it and don't change
/// until it is written. Collective.
CheckpointState state_of(const RunState& run, const Job& job, const DatasetMeta& dataset, int ranks,
                         const Reached& reached, WholeTensors& tensors);

/// What this rank holds of it. Throws Error saying what differs where the checkpoint is another run's.
void load_state(const LoadedCheckpoint& checkpoint, const Job& job, const DatasetMeta& dataset,
                const RunState& run);

/// Whose rows a state's are: another cut of the graph, or another order of parts on ranks, orders halo rows
/// otherwise.
struct PartsOnRanks {
  std::string prepared;   // the prepared graph's checksum
  std::vector<int> part;  // (ranks) that each trains
  std::string text() const;
};

/// Writes the state of every rank's part for the checkpoint of `at`, to be committed with it: on rank 0,
/// which writes, the files' seals by part; none where no rank has any state. Collective.
std::vector<std::string> write_part_states(Communicator& comm, const CheckpointStore& store,
                                           const Reached& at, const PartsOnRanks& parts,
                                           std::span<const NamedMatrix> mine);

/// Fills every rank's state, where any has some, from the checkpoint of `at`; false, with nothing changed,
/// where that has none for these parts on these ranks. Collective.
bool read_part_states(Communicator& comm, const CheckpointStore& store, const Reached& at,
                      const PartsOnRanks& parts, std::span<const NamedMatrix> mine);

}  // namespace atl
