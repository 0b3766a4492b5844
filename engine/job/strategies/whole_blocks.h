// What strategies have in common whose ranks send their whole block of rows to all that aggregate over it (CAGNET, Sancus).
#pragma once

#include <vector>

#include "job/layout.h"
#include "job/options.h"

namespace atl {

/// Every row goes to the P/c ranks of the grid's column that takes it, at the width of each learned convolution input, and comes
/// back as a gradient from each: with c = 1, (P − 1) n f either way. With c > 1 what each rank has aggregated goes to the other c − 1
/// of its row, and gradients of it back: (c − 1) n times their bytes. With recompute, once more for each forward that is repeated.
EpochTraffic block_traffic(const Options& options, const TrafficShape& shape);
/// The same by pair of ranks; whose rows read whose plays no part.
std::vector<PairBytes> block_flows(const Options& options, const TrafficShape& shape,
                                   const std::vector<CutRows>& cut);

}  // namespace atl
