// What CAGNET and Sancus have in common: rows come owner by owner, over a grid of ranks.
#pragma once

#include "strategies/schedule/strategy.h"

namespace atl {

/// Strategy::reads of either.
OwnerReads block_reads(const Job& job, Rank rank, int ranks);
/// A full batch to which every block comes in every pass.
std::unique_ptr<Schedule> all_blocks_full_batch(const ScheduleInput& in);

}  // namespace atl
