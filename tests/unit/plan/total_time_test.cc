// The predicted time of a whole run, and what a plan says of its evaluations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/text.h"
#include "plan/columns_job.h"
#include "train/every_model.h"

namespace atl {
namespace {

/// Of 10 epochs those are evaluated that `every` divides or, where it divides none, the last one. The last
/// one was counted beside the others.
TEST(TotalTime, HasTheEvaluationsThatARunMakes) {
  const struct {
    int every, evaluations;
  } cases[] = {{1, 10}, {3, 3}, {4, 2}, {5, 2}, {6, 1}, {10, 1}, {11, 1}, {1'000'000'000, 1}};
  for (const auto& [every, evaluations] : cases) {
    Job job;
    job.training.epochs = 10;
    job.training.evaluate_every = every;
    JobPlan plan;
    plan.epoch_seconds = 2, plan.evaluation_seconds = 3;
    enter_simulated(job, 2, "elsewhere", plan);
    EXPECT_DOUBLE_EQ(plan.total_seconds, 10 * 2 + evaluations * 3) << "every " << every;
  }
}

/// Bytes and time under every strategy, those of all ranks and of the slowest one.
TEST(PlannedEvaluation, IsStatedUnderEveryStrategy) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Dataset dataset = Dataset::open(folder / "small");
  for (const StrategyCase& strategy : every_strategy()) {
    SCOPED_TRACE(strategy.name);
    const Job job = job_of({"gcn", {}}, strategy);
    const JobPlan plan = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
    std::int64_t bytes = 0;
    double seconds = 0;
    for (const RankPlan& rank : plan.ranks) {
      bytes = std::accumulate(rank.evaluation.begin(), rank.evaluation.end(), bytes);
      seconds = std::max(seconds, rank.evaluation_seconds);
    }
    EXPECT_GT(bytes, 0);
    EXPECT_GT(seconds, 0);
    EXPECT_GE(plan.evaluation_seconds, seconds);
    const std::string text = to_text(plan, job);
    EXPECT_THAT(text,
                testing::HasSubstr("between ranks, per evaluation: " + bytes_text(double(bytes)) + " ("));
    EXPECT_THAT(text, testing::HasSubstr(duration_text(plan.evaluation_seconds) + " per evaluation, "));
  }
}

}  // namespace
}  // namespace atl
