// `atoll bench strategies` of a strategy with a memory budget: its runs choose what the manifest leaves open.
#include <gtest/gtest.h>

#include <algorithm>

#include "command/bench/cells.h"
#include "command/job_data.h"
#include "command/run/job_room.h"
#include "strategies/granndis/info.h"
#include "train/small_job.h"

namespace atl {
namespace {

class BudgetedCell : public testing::Test {
 protected:
  BudgetedCell() {
    write_small_data(folder_ / "small", {.vertices = 3000, .arc_share = 0.001});
    write_bytes(folder_ / "job.yaml",
                "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n"
                "  dataset: {name: small}\n  model: {kind: gcnii, layers: 6, hidden: 64, norm: layer}\n"
                "  placement: {ranks: 2}\n");
    arguments_.add("--file", folder_ / "job.yaml");
    arguments_.add("--data-root", folder_.path());
    arguments_.add("--threads", "1");
  }

  LoadedJob loaded(const std::vector<std::string>& changes) const {
    Arguments changed = arguments_;
    for (const std::string& change : changes) changed.add("--set", change);
    return load_job_of(changed, say);
  }
  JobPlan plan(const LoadedJob& job) const {
    return memory_plan(job.job, dataset(), prepare_graph(job, dataset(), say), 1);
  }
  Dataset dataset() const { return Dataset::open(folder_ / "small"); }
  static void say(const std::string&) {}

  TemporaryFolder folder_;
  Arguments arguments_;
};

/// The plan was that of one batch, and its runs had several: when all rounds had run, they seemed to have
/// sent other bytes than planned.
TEST_F(BudgetedCell, IsPlannedAsItsRunsChoose) {
  Index budget = 0;
  for (const RankPlan& rank :
       plan(loaded({"strategy={kind: granndis, granndis: {batches: 4}}", "training.recompute=layer"})).ranks)
    budget = std::max(budget, rank.memory.peak());
  const ListedStrategy listed = read_strategy_list("granndis:memoryBudget=" + std::to_string(budget)).front();
  const LoadedJob chosen = within_budget(loaded({listed.change}), dataset(), 1, say);
  ASSERT_GT(expansion_of(chosen.job).batches, 1) << "the case must show something";
  EXPECT_EQ(planned_runs(arguments_, bench_cell(arguments_, listed)).planned, plan(chosen).epoch);
  EXPECT_NE(plan(loaded({"strategy={kind: granndis}"})).epoch, plan(chosen).epoch);
}

}  // namespace
}  // namespace atl
