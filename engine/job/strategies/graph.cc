// Strategy `graph`: partition-parallel full-batch training with an exact exchange of boundary rows each
// layer. The baseline of all others: the result is that of one rank.
#include "job/option_field.h"
#include "job/strategies.h"

namespace atl {
namespace {

/// Nothing must share a server. Where the manifest says ranksPerServer, consecutive ranks do.
Layout graph_layout(const Job& job) {
  const int ranks = job.placement.ranks, together = std::max(1, job.placement.ranks_per_server);
  Layout layout;
  for (Rank first = 0; first < ranks; first += together) {
    auto& group = layout.groups.emplace_back();
    for (Rank rank = first; rank < std::min(first + together, ranks); ++rank) group.push_back(rank);
  }
  return layout;
}

/// Every halo row moves once forward and its gradient once back, at the width of each learned convolution
/// input. The gradient is summed in rank order: each rank gathers every other's slice of 1/P of it, then
/// everybody gets the sums: 2 (P − 1) / P of the parameters sent by each of P ranks.
EpochTraffic graph_traffic(const TrafficShape& shape) {
  EpochTraffic traffic;
  for (const Index width : shape.widths) traffic.halo += shape.halo_rows * width * shape.bytes_per_value;
  traffic.halo_gradient = traffic.halo;
  traffic.gradient = 2 * std::int64_t(shape.ranks - 1) * shape.parameters * 4;
  return traffic;
}

}  // namespace

StrategyInfo graph_strategy() {
  Field overlap = option_field(OptionOwner::kStrategy, "graph", "strategy.graph.overlap", true,
                               {.description = "aggregate a rank's own rows while boundary rows travel; "
                                               "false is the papers' synchronous baseline",
                                .may_change = true});
  return {"graph",
          "partition-parallel, exact exchange of boundary rows each layer",
          "the baseline of all",
          true,
          {std::move(overlap)},
          {},
          graph_layout,
          graph_traffic};
}

}  // namespace atl
