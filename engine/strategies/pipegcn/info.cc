// Strategy `pipegcn`: as `graph`, with boundary rows and their gradients one epoch late, so that they travel
// during the computation (Wan et al. 2022).
#include "strategies/pipegcn/info.h"
#include "job/field.h"
#include "job/rule.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

Index pipegcn_rows_sent(const Options& options, Index boundary) {
  return sampled_rows(options.number("boundaryRate"), boundary);
}

EpochTraffic pipegcn_traffic(const Options& options, const TrafficShape& shape) {
  return boundary_traffic(options, fetched_once(shape));
}

std::vector<PairBytes> pipegcn_flows(const Options& options, const TrafficShape& shape,
                                     const std::vector<CutRows>& cut) {
  return boundary_flows(options, fetched_once(shape), cut);
}

const std::string kOtherRows =
    "needs every boundary row in every epoch, but boundaryRate is below 1 (use none, or boundaryRate 1)";

const std::string kNothingLate =
    "averages what arrives late, and with staleness 0 nothing does (use auto or none, or staleness 1)";

void smoothing_of_stale_rows(const Check& c) {
  const Options& options = c.job.strategy.options;
  const std::string& smoothing = options.text("smoothing");
  if (smoothing == "none" || smoothing == "auto") return;
  if (options.integer("staleness") == 0)
    c.error("strategy.pipegcn.smoothing", "{} {}", smoothing, kNothingLate);
  else if (options.number("boundaryRate") < 1)
    c.error("strategy.pipegcn.smoothing", "{}", kOtherRows);
}

/// γ and its correction have an effect only with a moving average.
void options_of_an_average(const Check& c) {
  const Options& options = c.job.strategy.options;
  const Smoothing smoothing = pipegcn_smoothing(options);
  if (smoothing.rows || smoothing.gradients) return;
  for (const char* option : {"decay", "biasCorrection"})
    warn_without_effect(c, std::string("strategy.pipegcn.") + option, "without smoothing");
}

Rule smoothing_rule() {
  return {
      smoothing_of_stale_rows,
      {{"strategy.pipegcn", "smoothing",
        "!has(self.smoothing) || !has(self.staleness) || self.smoothing in ['none', 'auto'] || self.staleness > 0",
        "", "self.smoothing + ' " + kNothingLate + "'"},
       {"strategy.pipegcn", "smoothing",
        "!has(self.smoothing) || !has(self.boundaryRate) || self.smoothing in ['none', 'auto'] || "
        "self.boundaryRate >= 1.0",
        kOtherRows}}};
}

void pipegcn_on_several_ranks(const Check& c) {
  warn_of_one_rank(c, "graph");
}

}  // namespace

Smoothing pipegcn_smoothing(const Options& options) {
  const std::string& what = options.text("smoothing");
  const bool same_rows_stale = options.integer("staleness") > 0 && options.number("boundaryRate") >= 1;
  const bool both = what == "both" || (what == "auto" && same_rows_stale);
  return {both || what == "features", both || what == "gradients"};
}

StrategyInfo pipegcn_strategy() {
  const char* source = "Wan et al. 2022";
  std::vector<Field> options;
  options.push_back(strategy_option(
      "pipegcn", "staleness", std::int64_t{1},
      {.description =
           "how many epochs boundary rows and gradients are late; 0: ranks wait for them, same result as graph",
       .minimum = 0,
       .maximum = 1,
       .source = source}));
  options.push_back(
      strategy_option("pipegcn", "smoothing", std::string("auto"),
                      {.description = "which stale rows are replaced by their moving average",
                       .choices = {{"auto", "both, but none where staleness is 0 or boundaryRate is below 1"},
                                   {"none", "none (PipeGCN)"},
                                   {"features", "boundary rows (PipeGCN-F)"},
                                   {"gradients", "their gradients (PipeGCN-G)"},
                                   {"both", "boundary rows and their gradients (PipeGCN-GF)"}},
                       .source = source}));
  options.push_back(strategy_option("pipegcn", "decay", 0.95,
                                    {.description = "γ: share of the moving average that each epoch keeps",
                                     .minimum = 0,
                                     .maximum = 1,
                                     .below_maximum = true,
                                     .source = source}));
  options.push_back(
      strategy_option("pipegcn", "biasCorrection", true,
                      {.description = "divide the average after n epochs by 1 − γⁿ, since it starts "
                                      "at zero; "
                                      "the authors' code doesn't"}));
  options.push_back(
      strategy_option("pipegcn", "boundaryRate", 1.0,
                      {.description = "share of the boundary rows sent each epoch, sampled as by bns; "
                                      "below 1 only with smoothing auto or none",
                       .minimum = 0,
                       .maximum = 1,
                       .source = "BNS-GCN, Wan et al. 2022"}));
  options.push_back(halo_rows_option(
      "pipegcn", "inputs",
      "; stale products have the weights and the dropout of the epoch that sent them, stale inputs meet the present ones"));
  return {.kind = "pipegcn",
          .description = "boundary rows and gradients one epoch late, hidden behind compute",
          .source = source,
          .options = std::move(options),
          .layout = consecutive_ranks,
          .boundary_rows_sent = pipegcn_rows_sent,
          .traffic = pipegcn_traffic,
          .flows = pipegcn_flows,
          .hides = [](const Options& given) { return given.integer("staleness") > 0; },
          .rules = {smoothing_rule(), {options_of_an_average}, {pipegcn_on_several_ranks}}};
}

}  // namespace atl
