// What only the rank that trains a part knows (Schedule::state: stale rows of approximate exchanges), in the files of a
// checkpoint. Rank 0 alone sees the output folder: the others' state goes to it, and comes from it, one rank after the other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "strategies/exchange/exchange.h"
#include "train/checkpoint/checkpoint.h"

namespace atl {

/// Whose rows a state's are: another cut of the graph, or another order of parts on ranks, orders halo rows otherwise.
struct PartsOnRanks {
  std::string prepared;   // the prepared graph's checksum
  std::vector<int> part;  // (ranks) that each trains
  std::string text() const;
};

/// Writes the state of every rank's part for the checkpoint of `at`, to be committed with it: on rank 0, which writes, the
/// files' seals by part; none where no rank has any state. Collective.
std::vector<std::string> write_part_states(Communicator& comm, const CheckpointStore& store,
                                           const Reached& at, const PartsOnRanks& parts,
                                           std::span<const NamedMatrix> mine);

/// Fills every rank's state, where any has some, from the checkpoint of `at`; false, with nothing changed, where that has none for these
/// parts on these ranks. Collective.
bool read_part_states(Communicator& comm, const CheckpointStore& store, const Reached& at,
                      const PartsOnRanks& parts, std::span<const NamedMatrix> mine);

}  // namespace atl
