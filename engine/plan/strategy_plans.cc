// The table of the strategies' additions to plans.
#include <algorithm>

#include "job/strategies.h"
#include "plan/strategy_plan.h"

namespace atl {

const StrategyPlan& strategy_plan_of(const Job& job) {
  static const std::vector<StrategyPlan> table{
      gnnpipe_plan(), granndis_plan(), p3_plan(), dgs_plan(), minibatch_plan(),
  };
  static const StrategyPlan none{};
  const auto row = std::ranges::find(table, job.strategy.row->kind, &StrategyPlan::kind);
  return row == table.end() ? none : *row;
}

}  // namespace atl
