// Strategy `sancus`: as `cagnet`, but a block of rows that has hardly changed isn't broadcast again: the others go on with the
// rows that they have of it (Peng et al. 2022).
#include "job/option_field.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"
#include "job/strategies/whole_blocks.h"

namespace atl {
namespace {

const std::string kAuthorsCode = "the authors' code";

Field option(const std::string& name, Options::Value initial, Field rest) {
  return option_field(OptionOwner::kStrategy, "sancus", "strategy.sancus." + name, std::move(initial),
                      std::move(rest));
}

UsedWith rule(const std::string& name) {
  return {"strategy.sancus.rule", {name}};
}

/// Of an epoch in which every block travels: the most that one sends.
EpochTraffic traffic(const TrafficShape& shape) {
  return block_traffic(fetched_once(shape));
}

std::vector<PairBytes> flows(const TrafficShape& shape, const std::vector<CutRows>& cut) {
  return block_flows(fetched_once(shape), cut);
}

std::vector<Field> options() {
  std::vector<Field> all;
  all.push_back(option("rule", std::string("fixed"),
                       {.description = "when a block of rows is broadcast",
                        .choices = {{"fixed", "by the epoch: all up to warmup, then one of every"},
                                    {"bounded",
                                     "when it has changed by more than threshold, or is older than "
                                     "staleness"}},
                        .source = kAuthorsCode}));
  all.push_back(option("warmup", std::int64_t{50},
                       {.description = "epochs at the beginning in which every block is broadcast",
                        .minimum = 0,
                        .source = kAuthorsCode,
                        .used_with = rule("fixed")}));
  all.push_back(option("every", std::int64_t{2},
                       {.description = "after them, one epoch of so many broadcasts",
                        .minimum = 1,
                        .source = kAuthorsCode,
                        .used_with = rule("fixed")}));
  all.push_back(option("threshold", 0.05,
                       {.description = "largest change since a block was broadcast, relative to its norm, "
                                       "with which it isn't again",
                        .minimum = 0,
                        .used_with = rule("bounded")}));
  all.push_back(option("staleness", std::int64_t{4},
                       {.description = "most epochs in a row without a broadcast of a block; 0: none",
                        .minimum = 0,
                        .used_with = rule("bounded")}));
  all.push_back(
      option("gradients", std::string("always"),
             {.description = "when gradients of a block's rows go back to their owner",
              .choices = {{"always", "every epoch, also of rows that weren't broadcast"},
                          {"withRows",
                           "in epochs in which the rows were: half the bytes, but rows that stayed at home "
                           "learn nothing from other ranks' vertices"}},
              .source = kAuthorsCode}));
  return all;
}

}  // namespace

StrategyInfo sancus_strategy() {
  return {.kind = "sancus",
          .description = "as cagnet, but blocks of rows aren't broadcast in every epoch",
          .source = "Peng et al. 2022",
          .built = true,
          .options = options(),
          .layout = consecutive_ranks,
          .traffic = traffic,
          .flows = flows,
          .sends_less = true};
}

}  // namespace atl
