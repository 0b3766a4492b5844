// Strategy `cagnet`: full-batch training in which each layer broadcasts every rank's whole block of rows to
// all ranks that aggregate over it (Tripathy et al. 2020, 1D and 1.5D).

#include <fmt/format.h>

#include "base/text.h"
#include "job/field.h"
#include "job/rule.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"
#include "job/strategies/whole_blocks.h"

namespace atl {
namespace {

/// In a grid of several columns, a rank's part decides which others it works with, so ranks aren't alike.
Layout cagnet_layout(const Job& job) {
  Layout layout = consecutive_ranks(job);
  layout.ranks_are_alike = job.strategy.options.integer("replication") == 1;
  return layout;
}

void a_grid_of_the_ranks(const Check& c) {
  const int ranks = c.job.placement.ranks;
  const std::int64_t replication = c.job.strategy.options.integer("replication");
  if (fits_grid(ranks, replication)) return;
  c.error("strategy.cagnet.replication", "the square of {} does not divide placement.ranks {} (use {})",
          replication, ranks, joined(replications_of(ranks), " or "));
}

/// The message of the CEL half is the same, except that it can't list the possible grids.
Rule a_grid_of_the_ranks_rule() {
  const std::string replication = "self.strategy.cagnet.replication", ranks = kRanksInCel;
  return {
      a_grid_of_the_ranks,
      {{"", "strategy.cagnet.replication",
        "!has(self.strategy) || !has(self.strategy.cagnet) || !has(" + replication + ") || " + ranks +
            " % (" + replication + " * " + replication + ") == 0",
        "",
        "'the square of %d does not divide placement.ranks %d (use a number whose square does)'.format([" +
            replication + ", " + ranks + "])"}}};
}

/// All grids except the one with a single column.
std::vector<std::string> cagnet_variants(const Job& job) {
  std::vector<std::string> all;
  for (const int columns : replications_of(job.placement.ranks))
    if (columns > 1) all.push_back(fmt::format("replication={}", columns));
  return all;
}

void cagnet_on_several_ranks(const Check& c) {
  warn_of_one_rank(c, "graph");
}

}  // namespace

StrategyInfo cagnet_strategy() {
  const char* source = "Tripathy et al. 2020";
  Field replication = strategy_option(
      "cagnet", "replication", std::int64_t{1},
      {.description =
           "replication factor c: how many ranks aggregate for each other, each over its share of the "
           "source rows; 1 is the 1D algorithm, more the 1.5D algorithm; c² must divide placement.ranks",
       .minimum = 1,
       .source = source});
  return {.kind = "cagnet",
          .description = "each rank broadcasts its whole block of rows at each layer",
          .source = source,
          .options = {std::move(replication), halo_rows_option("cagnet", "products")},
          .layout = cagnet_layout,
          .traffic = block_traffic,
          .flows = block_flows,
          .exact = [](const Job&) { return true; },
          .variants = cagnet_variants,
          .rules = {a_grid_of_the_ranks_rule(), {cagnet_on_several_ranks}}};
}

}  // namespace atl
