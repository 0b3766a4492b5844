// What the options of strategy `p3` must have in common with the job's ranks.
#include <fmt/ranges.h>

#include "job/strategies/batch_options.h"
#include "job/strategies/p3.h"
#include "job/strategies/ranks_in_cel.h"

namespace atl {
namespace {

bool is_p3(const Check& c) {
  return c.job.strategy.kind == "p3";
}

void a_fanout_a_layer(const Check& c) {
  if (is_p3(c)) check_batch_fanout(c, "p3");
}

void copies_of_the_holders(const Check& c) {
  if (!is_p3(c)) return;
  const auto copies = c.job.strategy.options.integer("copies");
  const int holders = column_grid(c.job).holders;
  if (holders % copies == 0) return;
  std::vector<int> allowed;
  for (int d = 1; d <= holders; ++d)
    if (holders % d == 0) allowed.push_back(d);
  const bool by_server = c.job.strategy.options.text("columns") == "server";
  c.error("strategy.p3.copies", "{} does not divide the {} {} that columns are divided over (use {})", copies,
          holders, by_server ? "servers" : "ranks", fmt::join(allowed, " or "));
}

/// Where the partitioner's kind says nothing of it, CEL judges the ranks alone.
Rule copies_of_the_holders_rule() {
  const std::string p3 = "self.strategy.p3", ranks = kRanksInCel;
  const std::string together = "((!has(" + p3 + ".columns) || " + p3 +
                               ".columns == 'server') && has(self.placement) && "
                               "has(self.placement.ranksPerServer) && self.placement.ranksPerServer > 0 ? "
                               "self.placement.ranksPerServer : 1)";
  return {copies_of_the_holders,
          {{"", "strategy.p3.copies",
            "!has(self.strategy) || !has(" + p3 + ") || !has(" + p3 + ".copies) || (" + ranks + " / " +
                together + ") % " + p3 + ".copies == 0",
            "",
            "'%d does not divide the %d servers or ranks that columns are divided over'.format([" + p3 +
                ".copies, " + ranks + " / " + together + "])"}}};
}

const std::string kNoSuchPipeline =
    "steps of delay are no pipeline (use 0, one batch at a time, or 3, the pipeline of the paper)";

void a_pipeline_that_there_is(const Check& c) {
  if (!is_p3(c)) return;
  const int delay = pipeline_delay(c.job);
  if (delay != 0 && delay != 3) c.error("strategy.p3.delay", "{} {}", delay, kNoSuchPipeline);
}

Rule a_pipeline_that_there_is_rule() {
  return {a_pipeline_that_there_is,
          {{"strategy.p3", "delay", "!has(self.delay) || self.delay == 0 || self.delay == 3", "",
            "'%d " + kNoSuchPipeline + "'.format([self.delay])"}}};
}

}  // namespace

std::vector<Rule> p3_rules() {
  return {{a_fanout_a_layer, {batch_fanout_rule("p3")}},
          copies_of_the_holders_rule(),
          a_pipeline_that_there_is_rule()};
}

}  // namespace atl
