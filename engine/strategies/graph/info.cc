// Strategy `graph`: partition-parallel full-batch training with an exact exchange of boundary rows in each
// layer. It is the baseline of all others: its result is that of one rank.
#include "job/field.h"
#include "job/rule.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

void overlap_of_several_ranks(const Check& c) {
  if (c.job.placement.ranks == 1) warn_without_effect(c, "strategy.graph.overlap", "on one rank");
}

}  // namespace

StrategyInfo graph_strategy() {
  Field overlap = strategy_option("graph", "overlap", true,
                                  {.description = "aggregate own rows while boundary rows are in transit; "
                                                  "false is the papers' synchronous baseline",
                                   .may_change = true});
  return {.kind = "graph",
          .description = "exact exchange of boundary rows at each layer (partition-parallel)",
          .source = "the baseline of all",
          .options = {std::move(overlap), halo_rows_option("graph", "products")},
          .also_called = {"fullbatch"},
          .layout = consecutive_ranks,
          .traffic = boundary_traffic,
          .flows = boundary_flows,
          .hides = [](const Options& options) { return options.flag("overlap"); },
          .exact = [](const Job&) { return true; },
          .rules = {{overlap_of_several_ranks}}};
}

}  // namespace atl
