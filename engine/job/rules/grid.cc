// The rules of CAGNET's grid of ranks (job/strategies/cagnet_grid.h): which grids there are, and who can be summed over one.
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

/// A softmax over a vertex's neighbours is whole at no rank of a row, and layers merge sums alone.
void sums_over_a_grid(const Check& c) {
  if (replication_of(c.job) == 1) return;
  const ModelSpec& model = c.job.model;
  const bool softmax =
      model.kind == "gat" || (model.kind == "resgcn" && model.options.text("aggregator") == "softmax");
  if (softmax)
    c.error(
        "strategy.cagnet.replication",
        "{} ranks would each have a part of model {}'s softmax over neighbours, and only sums can be merged (use 1)",
        replication_of(c.job), model.kind);
}

}  // namespace

/// Which models have a softmax is for the operator alone to tell.
std::vector<Rule> grid_rules() {
  return {a_grid_of_the_ranks_rule(), {sums_over_a_grid}};
}

}  // namespace atl
