// The predicted time of a whole run.
#include <gtest/gtest.h>

#include "plan/job_plan.h"

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

}  // namespace
}  // namespace atl
