// Traffic that follows from a job's parts and model by the strategies' byte formulas (job/strategies.h), for
// callers that have no schedule to run dry.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "job/layout.h"
#include "model/model.h"
#include "partition/prepared_graph.h"

namespace atl {

TrafficShape traffic_shape(const Job& job, const Dataset& dataset, const Model& model,
                           const PreparedGraph& prepared);

/// Bytes in an epoch by pair of parts, where each rank trains the part of its own number.
std::vector<PairBytes> part_flows(const Job& job, const Dataset& dataset, const PreparedGraph& prepared);

/// (ranks) the part of each rank. Rank and part have the same number where ranks aren't alike or no two share
/// a server.
std::vector<int> part_order(const Layout& layout, std::span<const PairBytes> between_parts);

/// What placement needs to know of a job's parts.
struct RankTraffic {
  std::vector<int> parts;        // (ranks) the part that each trains
  std::vector<PairBytes> flows;  // bytes in an epoch, between ranks that train those parts
};

RankTraffic rank_traffic(const Job& job, const Dataset& dataset, const PreparedGraph& prepared);

struct ServerFlows {
  /// Bytes between two servers, both directions together, each named by its lowest rank.
  std::vector<PairBytes> listed;
  /// Bytes between each pair of servers that isn't listed.
  double unlisted = 0;
};

/// Lists at most `most` pairs of servers: all that exchange anything, where there are no more than that.
/// Otherwise the pairs whose bytes differ least share one value, `unlisted`. The sum over all pairs stays the
/// same, to within a byte per pair.
ServerFlows server_flows(const Layout& layout, std::span<const PairBytes> between_ranks, std::size_t most);

}  // namespace atl
