// The rules of CAGNET's grid of ranks (job/strategies/cagnet_grid.h): which grids there are.
#include <fmt/ranges.h>

#include "job/rule.h"
#include "job/strategies/cagnet_grid.h"

namespace atl {
namespace {

std::int64_t replication_of(const Job& job) {
  return job.strategy.kind == "cagnet" ? job.strategy.options.integer("replication") : 1;
}

void a_grid_of_the_ranks(const Check& c) {
  const int ranks = c.job.placement.ranks;
  if (fits_grid(ranks, replication_of(c.job))) return;
  c.error("strategy.cagnet.replication", "the square of {} does not divide placement.ranks {} (use {})",
          replication_of(c.job), ranks, fmt::join(replications_of(ranks), " or "));
}

/// CEL has no way to list the grids there are; the rest of the words is the same.
Rule a_grid_of_the_ranks_rule() {
  const std::string replication = "self.strategy.cagnet.replication",
                    ranks = "(has(self.placement) && has(self.placement.ranks) ? self.placement.ranks : 1)";
  return {
      a_grid_of_the_ranks,
      {{"", "strategy.cagnet.replication",
        "!has(self.strategy) || !has(self.strategy.cagnet) || !has(" + replication + ") || " + ranks +
            " % (" + replication + " * " + replication + ") == 0",
        "",
        "'the square of %d does not divide placement.ranks %d (use a number whose square does)'.format([" +
            replication + ", " + ranks + "])"}}};
}

}  // namespace

std::vector<Rule> grid_rules() {
  return {a_grid_of_the_ranks_rule()};
}

}  // namespace atl
