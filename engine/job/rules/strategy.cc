// The rules of `strategy`: each strategy's own, from its row, and those for all.
#include "job/rule.h"
#include "job/strategies.h"

namespace atl {
namespace {

/// Only strategies that draw by vertex may have several parts per rank.
void parts_for_ranks(const Check& c) {
  const int parts = c.job.placement.partitioner.parts, ranks = c.job.placement.ranks;
  const StrategyInfo* strategy = find_strategy(c.job.strategy.kind);
  if (parts == 0 || parts == ranks || strategy == nullptr) return;
  if (!strategy->several_parts)
    c.error("placement.partitioner.parts",
            "{} parts for {} ranks, and strategy {} has one a rank (leave it out)", parts, ranks,
            strategy->kind);
  else if (parts < ranks)
    c.error("placement.partitioner.parts", "{} parts for {} ranks (use at least one a rank)", parts, ranks);
}

}  // namespace

std::vector<Rule> strategy_rules() {
  std::vector<Rule> all{{parts_for_ranks}};
  for (const StrategyInfo& info : strategy_infos())
    for (const Rule& rule : info.rules) all.push_back(rule);
  return all;
}

}  // namespace atl
