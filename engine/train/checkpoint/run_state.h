// From a run's state to a checkpoint's and back: a resumed run goes on as if it had never stopped.
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

/// The identity of this job's checkpoints. Another data set, model or seed is another run.
Identity identity_of(const Job& job, const DatasetMeta& dataset);

/// The state that training changes.
struct RunState {
  Parameters& parameters;
  Optimizer& optimizer;
  Best& best;
  EpochSoFar& epoch;
};

/// The state at `reached`, complete on rank 0 only. `tensors`, which must be new, and `run` must outlive it
/// and not change until it is written. Collective.
CheckpointState state_of(const RunState& run, const Job& job, const DatasetMeta& dataset, int ranks,
                         const Reached& reached, WholeTensors& tensors);

/// Takes this rank's share of the checkpoint. Throws Error with the differences where the checkpoint is
/// another run's.
void load_state(const LoadedCheckpoint& checkpoint, const Job& job, const DatasetMeta& dataset,
                const RunState& run);

/// Which parts the states belong to, and on which ranks. Another division of the graph, or other parts on
/// ranks, give halo rows another order.
struct PartsOnRanks {
  std::string prepared;   // the prepared graph's checksum
  std::vector<int> part;  // (ranks) the part that each trains
  std::string text() const;
};

/// Writes the state of every rank's part for the checkpoint at `at`, which is committed afterwards. Returns
/// the files' seals by part on rank 0, which writes; none where no rank has any state. Collective.
std::vector<std::string> write_part_states(Communicator& comm, const CheckpointStore& store,
                                           const Reached& at, const PartsOnRanks& parts,
                                           std::span<const NamedMatrix> mine);

/// Fills every rank's state, where it has any, from the checkpoint at `at`. Returns false and changes nothing
/// where that has no states for these parts on these ranks. Collective.
bool read_part_states(Communicator& comm, const CheckpointStore& store, const Reached& at,
                      const PartsOnRanks& parts, std::span<const NamedMatrix> mine);

}  // namespace atl
