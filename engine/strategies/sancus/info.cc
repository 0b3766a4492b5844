// Strategy `sancus`: as `cagnet`, but a block of rows that has hardly changed isn't broadcast again. Other
// ranks go on with their earlier copy of it (Peng et al. 2022).
#include <fmt/format.h>

#include "job/field.h"
#include "job/rule.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"
#include "job/strategies/whole_blocks.h"

namespace atl {
namespace {

const std::string kAuthorsCode = "the authors' code";

UsedWith rule(const std::string& name) {
  return {"strategy.sancus.rule", {name}};
}

/// The most traffic that an epoch can have: every block travels.
EpochTraffic sancus_traffic(const Options& options, const TrafficShape& shape) {
  return block_traffic(options, fetched_once(shape));
}

std::vector<PairBytes> sancus_flows(const Options& options, const TrafficShape& shape,
                                    const std::vector<CutRows>& cut) {
  return block_flows(options, fetched_once(shape), cut);
}

std::vector<Field> sancus_options() {
  std::vector<Field> all;
  all.push_back(
      strategy_option("sancus", "rule", std::string("fixed"),
                      {.description = "when a block of rows is broadcast",
                       .choices = {{"fixed",
                                    "by epoch: in each of the first warmup epochs, then in one "
                                    "epoch of `every`"},
                                   {"bounded",
                                    "by change: when the block has changed by more than threshold, or "
                                    "is older than staleness"}},
                       .source = kAuthorsCode}));
  all.push_back(strategy_option("sancus", "warmup", std::int64_t{50},
                                {.description = "epochs at the start in which every block is broadcast",
                                 .minimum = 0,
                                 .source = kAuthorsCode,
                                 .used_with = rule("fixed")}));
  all.push_back(
      strategy_option("sancus", "every", std::int64_t{2},
                      {.description = "after warmup, blocks are broadcast in one epoch out of this many",
                       .minimum = 1,
                       .source = kAuthorsCode,
                       .used_with = rule("fixed")}));
  all.push_back(strategy_option(
      "sancus", "threshold", 0.05,
      {.description = "a block is broadcast again when it has changed by more than this since "
                      "its last broadcast, relative to its norm",
       .minimum = 0,
       .used_with = rule("bounded")}));
  all.push_back(strategy_option("sancus", "staleness", std::int64_t{4},
                                {.description = "longest run of epochs without a broadcast of a block; 0: "
                                                "broadcast in every epoch",
                                 .minimum = 0,
                                 .used_with = rule("bounded")}));
  all.push_back(strategy_option(
      "sancus", "gradients", std::string("always"),
      {.description = "when the gradients of a block's rows are sent to their owner",
       .choices = {{"always", "in every epoch, also for rows that weren't broadcast"},
                   {"withRows",
                    "only in epochs that broadcast the rows: half the bytes, but rows that weren't "
                    "broadcast learn nothing from other ranks' vertices"}},
       .source = kAuthorsCode}));
  return all;
}

/// Where every block is broadcast in each epoch, warns about the options that say which blocks aren't, and
/// what becomes of their gradients.
void blocks_that_are_always_sent(const Check& c) {
  if (c.job.placement.ranks == 1) return;
  const Options& given = c.job.strategy.options;
  const bool by_change = given.text("rule") == "bounded";
  if (given.integer(by_change ? "staleness" : "every") == (by_change ? 0 : 1)) {
    for (const char* option : {by_change ? "threshold" : "warmup", "gradients"})
      warn_without_effect(c, std::string("strategy.sancus.") + option,
                          fmt::format("with {}: every block is broadcast in each epoch",
                                      by_change ? "staleness 0" : "every 1"));
    return;
  }
  if (!by_change && given.integer("warmup") >= c.job.training.epochs)
    c.warning(
        "strategy.sancus.warmup",
        "sancus is cagnet in this run: every block is broadcast in each of the first {} epochs, and there are {} (use fewer, or "
        "more training.epochs)",
        given.integer("warmup"), c.job.training.epochs);
}

void sancus_on_several_ranks(const Check& c) {
  warn_of_one_rank(c, "graph");
}

}  // namespace

StrategyInfo sancus_strategy() {
  return {.kind = "sancus",
          .description = "like cagnet, but blocks of rows aren't broadcast in every epoch",
          .source = "Peng et al. 2022",
          .options = sancus_options(),
          .layout = consecutive_ranks,
          .traffic = sancus_traffic,
          .flows = sancus_flows,
          .planned_bytes = [](const Job&) { return PlannedBytes::kTheMost; },
          .rules = {{blocks_that_are_always_sent}, {sancus_on_several_ranks}}};
}

}  // namespace atl
