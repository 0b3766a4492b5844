// From a run's state to a checkpoint's and back: a resumed run goes on as if it had never stopped.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "dataset/dataset.h"
#include "model/parameters.h"
#include "strategies/exchange/exchange.h"
#include "tensor/copies.h"
#include "train/best.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/safetensors.h"
#include "train/optimizer.h"

namespace atl {

// Parameters on their way to files and back. Files hold them whole, and rank 0 writes them, while several
// ranks may hold their rows. Each rank takes its rows from a file, which may be of another number of ranks.

/// The tensors of a file that rank 0 writes. References must outlive it.
class WholeTensors {
 public:
  WholeTensors(Communicator& comm, const Parameters& parameters) : comm_(comm), parameters_(parameters) {}

  /// Adds the parameters' values, or something laid out like Parameters::values() (moments: only its
  /// trainable part), named by `prefix` and the parameters' names. Tensors that rank 0 holds whole are added
  /// as views. Collective.
  void add(const Real* values, const std::string& prefix, bool trainable_only);
  /// The same for values that may lie in a device's memory.
  void add(HostArray values, const std::string& prefix, bool trainable_only);
  /// Complete on rank 0; on other ranks only what they happen to hold.
  const std::vector<TensorView>& tensors() const { return tensors_; }

 private:
  MatrixView room_for(const Parameters::Entry& entry, const std::string& prefix);

  Communicator& comm_;
  const Parameters& parameters_;
  std::vector<TensorView> tensors_;
  std::deque<HostArray> held_;        // memory for views in tensors_
  std::vector<Matrix> put_together_;  // (1, elements): memory for tensors_ of sliced parameters
};

/// The way back, from a file with tensors that were added in this way: copies the rows that this rank holds.
/// Throws Error naming what is missing or has another shape.
void read_held_rows(const SafetensorsFile& file, const Parameters& parameters, Real* values,
                    const std::string& prefix, bool trainable_only);

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
