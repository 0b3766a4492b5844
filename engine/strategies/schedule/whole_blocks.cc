#include "strategies/schedule/whole_blocks.h"

#include "strategies/exchange/whole_blocks.h"
#include "job/strategies/cagnet_grid.h"
#include "strategies/schedule/rows.h"

namespace atl {

OwnerReads block_reads(const Job& job, Rank rank, int ranks) {
  const CagnetGrid grid = cagnet_grid(job.strategy.options, ranks);
  return {grid.row_ranks(rank), grid.sources(rank)};
}

std::unique_ptr<Schedule> all_blocks_full_batch(const ScheduleInput& in) {
  return full_batch_over(in, [&](std::vector<ExchangedLayer> layers) {
    return make_cagnet_exchange(in.ctx, in.comm, in.holding.part(), std::move(layers),
                                cagnet_grid(in.job.strategy.options, in.comm.size()).replication,
                                in.job.wire());
  });
}

}  // namespace atl
