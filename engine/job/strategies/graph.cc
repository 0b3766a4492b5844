// Strategy `graph`: partition-parallel full-batch training with an exact exchange of boundary rows each
// layer. The baseline of all others: the result is that of one rank.
#include "job/option_field.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
StrategyInfo graph_strategy() {
  Field overlap = strategy_option("graph", "overlap", true,
                                  {.description = "aggregate own rows while boundary rows are in transit; "
                                                  "false is the papers' synchronous baseline",
                                   .may_change = true});
  return {.kind = "graph",
          .description = "exact exchange of boundary rows at each layer (partition-parallel)",
          .source = "the baseline of all",
          .options = {std::move(overlap)},
          .layout = consecutive_ranks,
          .traffic = boundary_traffic,
          .flows = boundary_flows,
          .hides = [](const Options& options) { return options.flag("overlap"); },
          .exact = [](const Job&) { return true; }};
}

}  // namespace atl
