// Strategy `auto` stands for another one, which `atoll run` chooses before anything is started
// (command/compare.h), so that no rank ever runs it.
#include "job/field.h"
#include "job/quantity.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

const std::string kUseRate = "use a rate above 0: 850mbit, 32gbit, 12GB/s";

void a_rate(const Check& c) {
  const std::string& link = c.job.strategy.options.text("link");
  if (!parse_rate(link)) c.error("strategy.link", "'{}' is not allowed ({})", link, kUseRate);
}

const std::string kIsAuto = "self.kind == 'auto'";

/// Only the API server needs this rule: the engine's reader refuses fields that it doesn't know.
Rule alone_rule() {
  const std::string text = "is an option of strategy auto (remove it)";
  return {[](const Check&) {},
          {{"strategy", "exact", "!has(self.exact) || " + kIsAuto, text},
           {"strategy", "link", "!has(self.link) || " + kIsAuto, text},
           {"strategy", "trial", "!has(self.trial) || " + kIsAuto, text},
           {"strategy", "trialShare", "!has(self.trialShare) || " + kIsAuto, text}}};
}

Rule a_rate_rule() {
  return {a_rate,
          {{"strategy.link", "", fmt::format("self.matches('{}')", kRatePattern), "",
            "\"'\" + self + \"' is not allowed (" + kUseRate + ")\""}}};
}

}  // namespace

StrategyInfo auto_strategy() {
  Field exact = option_field(
      OptionOwner::kStrategy, "auto", "strategy.exact", true,
      {.description =
           "choose among strategies whose gradients are those of the whole graph on one rank, by the time of an epoch; false: "
           "among all, by the time to the accuracy of strategy graph less half a point",
       .may_change = true});
  Field link =
      option_field(OptionOwner::kStrategy, "auto", "strategy.link", std::string("10gbit"),
                   {.type = FieldType::kText,
                    .description = "rate of each server's link, each way, that epochs are predicted with; "
                                   "placement.ranksPerServer says which ranks share a server",
                    .may_change = true});
  Field trial = option_field(
      OptionOwner::kStrategy, "auto", "strategy.trial", std::int64_t(200),
      {.description =
           "with exact: false: steps for which strategy graph is trained before the choice, on a part of a large graph; then each "
           "inexact strategy that could be faster is trained, to see how many steps it needs; 0: no trials, stored runs tell",
       .unit = "steps",
       .minimum = 0,
       .maximum = 100'000,
       .may_change = true,
       .used_with = {"strategy.exact", {"false"}}});
  Field share = option_field(
      OptionOwner::kStrategy, "auto", "strategy.trialShare", 0.1,
      {.description =
           "the most time that trials may take, as a share of what training is predicted to take under what would be chosen "
           "without them; what isn't tried in time is judged by stored runs",
       .minimum = 0.001,
       .maximum = 1000,
       .may_change = true,
       .used_with = {"strategy.exact", {"false"}}});
  return {.kind = "auto",
          .description = "the strategy with the least predicted time (atoll plan --compare)",
          .options = {std::move(exact), std::move(link), std::move(trial), std::move(share)},
          .layout = consecutive_ranks,
          .rules = {a_rate_rule(), alone_rule()}};
}

}  // namespace atl
