// Strategy `bns`: like `graph`, but only a sample of the boundary rows travels, drawn anew each epoch
// (BNS-GCN, Wan et al. 2022).
#include "job/field.h"
#include "job/rule.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

Index bns_rows_sent(const Options& options, Index boundary) {
  return sampled_rows(options.number("rate"), boundary);
}

void bns_on_several_ranks(const Check& c) {
  warn_of_one_rank(c, "graph");
}

}  // namespace

StrategyInfo bns_strategy() {
  const char* source = "BNS-GCN, Wan et al. 2022";
  Field rate = strategy_option(
      "bns", "rate", 0.1,
      {.description = "share of the boundary rows sent between two ranks each epoch, at least one "
                      "row; 1: all rows, same result as graph; 0: none",
       .minimum = 0,
       .maximum = 1,
       .source = source});
  return {.kind = "bns",
          .description = "a sample of the boundary rows, drawn each epoch",
          .source = source,
          .options = {std::move(rate), halo_rows_option("bns", "products")},
          .layout = consecutive_ranks,
          .boundary_rows_sent = bns_rows_sent,
          .traffic = boundary_traffic,
          .flows = boundary_flows,
          .hides = [](const Options&) { return true; },
          .rules = {{bns_on_several_ranks}}};
}

}  // namespace atl
