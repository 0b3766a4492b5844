#include "simulate/record_modelled.h"

#include "plan/dry_input.h"
#include "plan/part_order.h"
#include "simulate/dry_recording.h"
#include "strategies/schedule/strategy.h"

namespace atl {

Recording record_modelled(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                          const RecordOptions& options, const MachineRates& rates) {
  if (strategy_of(job).holds == Holds::kBatches)
    return record_modelled_batches(job, dataset, *batch_source(job, prepared), options, rates);
  DryInputs inputs(job, dataset, prepared, rank_traffic(job, dataset, prepared).parts, options.threads,
                   options.hosts);
  Recording recording{.epochs = options.epochs, .modelled = true, .rates = rates};
  for (Rank rank = 0; rank < Rank(inputs.ranks()); ++rank)
    recording.ranks.push_back(dry_recording(inputs.of(rank), options.epochs, &rates));
  return recording;
}

}  // namespace atl
