#include "plan/simulate/record_modelled.h"

#include "plan/simulate/dry_recording.h"

namespace atl {

Recording record_modelled(DryInputs& inputs, const RecordOptions& options, const MachineRates& rates) {
  Recording recording{.epochs = options.epochs, .modelled = true, .rates = rates};
  for (Rank rank = 0; rank < Rank(inputs.ranks()); ++rank)
    recording.ranks.push_back(dry_recording(inputs.of(rank), options.epochs, &rates));
  return recording;
}

}  // namespace atl
