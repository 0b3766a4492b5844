// What the options of strategy `p3` must have in common with the job's ranks.
#include <fmt/ranges.h>

#include "job/no_effect.h"
#include "job/strategies/batch_options.h"
#include "strategies/p3/info.h"
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

void several_ranks(const Check& c) {
  warn_of_one_rank(c, "p3", "minibatch");
}

/// A run at a higher rate may learn nothing at all, from its first epoch on; on some data sets at a lower one either
/// (docs/benchmarks/p3-pipeline-accuracy.md).
void a_rate_for_late_gradients(const Check& c) {
  if (!has_late_gradients(c.job)) return;
  if (const double highest = rate_of_late_gradients(c.job); highest > 0)
    return c.warning(
        "training.optimizer.learningRate",
        "{} is high for gradients that are three steps old, as those of delay 3 are: above {} a run may learn nothing (use {} or less, and compare with delay: 0)",
        c.job.training.optimizer.learning_rate, highest, highest);
  c.warning(
      "strategy.p3.delay",
      "gradients that are three steps old cost tens of points of accuracy on some data sets, at low rates too (compare with delay: 0)");
}

}  // namespace

bool has_late_gradients(const Job& job) {
  return job.strategy.kind == "p3" && pipeline_delay(job) > 0 &&
         job.training.optimizer.kind != OptimizerKind::kSgd;
}

double rate_of_late_gradients(const Job& job) {
  constexpr double kHighest = 0.003;
  return has_late_gradients(job) && job.training.optimizer.learning_rate > kHighest ? kHighest : 0;
}

std::vector<Rule> p3_rules() {
  return {{a_fanout_a_layer, {batch_fanout_rule("p3")}},
          copies_of_the_holders_rule(),
          a_pipeline_that_there_is_rule(),
          {several_ranks},
          {a_rate_for_late_gradients}};
}

}  // namespace atl
