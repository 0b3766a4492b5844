// The rules of `strategy`: options that exclude each other.
#include <algorithm>

#include "job/models.h"
#include "job/rule.h"
#include "job/strategies.h"
#include "job/strategies/minibatch.h"

namespace atl {
namespace {

const std::string kNoFanout = "draws 0 neighbours in some layer (use 1 or more, or −1 for all)";
const std::string kOtherRows =
    "needs every boundary row in every epoch, but boundaryRate is below 1 (use none, or boundaryRate 1)";

void smoothing_or_sampling(const Check& c) {
  if (c.job.strategy.kind != "pipegcn") return;
  const Options& options = c.job.strategy.options;
  const std::string& smoothing = options.text("smoothing");
  if (smoothing != "none" && smoothing != "auto" && options.number("boundaryRate") < 1)
    c.error("strategy.pipegcn.smoothing", "{}", kOtherRows);
}

void a_fanout_a_layer(const Check& c) {
  if (c.job.strategy.kind != "minibatch") return;
  const std::vector<int> fanout = minibatch_fanout(c.job);
  const int layers = gathering_layers(c.job.model);
  if (std::ranges::find(fanout, 0) != fanout.end())
    c.error("strategy.minibatch.fanout", "{}", kNoFanout);
  else if (int(fanout.size()) != layers)
    c.error("strategy.minibatch.fanout", "has {} numbers for {} layers (give one for each of {})",
            fanout.size(), layers, layers_field(c.job.model));
}

/// How many layers gather is the model's to say, and CEL doesn't know it.
Rule a_fanout_a_layer_rule() {
  return {a_fanout_a_layer,
          {{"strategy.minibatch", "fanout", "!has(self.fanout) || self.fanout.all(f, f != 0)", kNoFanout}}};
}

/// Mini-batches alone may have several parts a rank.
void parts_for_ranks(const Check& c) {
  const int parts = c.job.placement.partitioner.parts, ranks = c.job.placement.ranks;
  const StrategyInfo* strategy = find_strategy(c.job.strategy.kind);
  if (parts == 0 || parts == ranks || strategy == nullptr) return;
  if (!strategy->batches())
    c.error("placement.partitioner.parts",
            "{} parts for {} ranks, and strategy {} has one a rank (leave it out)", parts, ranks,
            strategy->kind);
  else if (parts < ranks)
    c.error("placement.partitioner.parts", "{} parts for {} ranks (use at least one a rank)", parts, ranks);
}

}  // namespace

std::vector<Rule> strategy_rules() {
  const ServerRule smoothing{
      "strategy.pipegcn", "smoothing",
      "!has(self.smoothing) || !has(self.boundaryRate) || self.smoothing in ['none', 'auto'] || "
      "self.boundaryRate >= 1.0",
      kOtherRows};
  return {{smoothing_or_sampling, {smoothing}}, a_fanout_a_layer_rule(), {parts_for_ranks}};
}

}  // namespace atl
