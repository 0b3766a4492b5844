// Common code of strategies whose ranks train on their own part's rows and read boundary rows of other parts.
#pragma once

#include <vector>

#include "job/field.h"
#include "job/job.h"
#include "job/layout.h"

namespace atl {

/// A layout in which no ranks must share a server. Where the manifest gives ranksPerServer, consecutive ranks
/// share one.
Layout consecutive_ranks(const Job& job);

/// Option `haloRows` of strategies whose layers exchange rows. It is about layers that multiply by their
/// weight before they sum over neighbours: these exchange either products or inputs.
Field halo_rows_option(const char* kind, const char* initial, const std::string& also = "");
bool sends_products(const Job& job);

/// Bytes sent for the sum of the weights' gradients, and the same by pair of ranks.
std::int64_t gradient_bytes(const TrafficShape& shape);
std::vector<PairBytes> gradient_flows(const TrafficShape& shape);

/// The number of rows that travel in an epoch, if a share of `rate` of one rank's `boundary` rows for another
/// is sampled: all at 1, none at 0, otherwise at least one.
Index sampled_rows(double rate, Index boundary);

/// The shape for strategies whose repeated forward (recompute) still has the rows of the first forward, so
/// that nothing is fetched again.
TrafficShape fetched_once(const TrafficShape& shape);

/// Each halo row that travels moves once forward and its gradient once back, at the width of each learned
/// convolution input. With recompute, it moves once more for each forward that fetches it again.
EpochTraffic boundary_traffic(const Options& options, const TrafficShape& shape);
/// The same by pair of ranks.
std::vector<PairBytes> boundary_flows(const Options& options, const TrafficShape& shape,
                                      const std::vector<CutRows>& cut);

}  // namespace atl
