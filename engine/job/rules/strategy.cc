// The rules of `strategy`: options that exclude each other.
#include "job/rule.h"

namespace atl {
namespace {

const std::string kOtherRows =
    "averages a row with its earlier values, which a sample of boundary rows doesn't bring (use none, or boundaryRate 1)";

void smoothing_or_sampling(const Check& c) {
  if (c.job.strategy.kind != "pipegcn") return;
  const Options& options = c.job.strategy.options;
  const std::string& smoothing = options.text("smoothing");
  if (smoothing != "none" && smoothing != "auto" && options.number("boundaryRate") < 1)
    c.error("strategy.pipegcn.smoothing", "{}", kOtherRows);
}

}  // namespace

std::vector<Rule> strategy_rules() {
  const ServerRule smoothing{
      "strategy.pipegcn", "smoothing",
      "!has(self.smoothing) || !has(self.boundaryRate) || self.smoothing in ['none', 'auto'] || "
      "self.boundaryRate >= 1.0",
      kOtherRows};
  return {{smoothing_or_sampling, {smoothing}}};
}

}  // namespace atl
