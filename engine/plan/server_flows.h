// Bytes between a job's servers, in so few numbers that a pod's log and a ConfigMap hold them. Where servers are many and each
// talks to each, there are more pairs than that: then those that stand out are listed, and the others exchange what they exchange in
// the mean.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "job/layout.h"

namespace atl {

struct ServerFlows {
  /// Between the lowest ranks of two servers: what their ranks exchange, both directions together.
  std::vector<PairBytes> listed;
  /// Bytes, of each pair of servers that isn't listed.
  double unlisted = 0;
};

/// Of at most `most` pairs; all that exchange anything where that is enough. Else the unlisted are those that differ least among
/// each other. The sum over all pairs stays, to within a byte a pair.
ServerFlows server_flows(const Layout& layout, std::span<const PairBytes> between_ranks, std::size_t most);

}  // namespace atl
