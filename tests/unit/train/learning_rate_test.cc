#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace atl {
namespace {

/// Of epochs 1 … epochs.
std::vector<double> rates(const ScheduleSpec& schedule, double base, Index epochs) {
  std::vector<double> all;
  for (Index epoch = 1; epoch <= epochs; ++epoch)
    all.push_back(learning_rate_at(schedule, base, epoch, epochs));
  return all;
}

void expect_rates(const ScheduleSpec& schedule, double base, const std::vector<double>& expected) {
  const std::vector<double> all = rates(schedule, base, Index(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(all[i], expected[i], 1e-12) << "epoch " << i + 1;
}

TEST(LearningRate, ConstantIsTheSameEveryEpoch) {
  expect_rates({}, 0.01, {0.01, 0.01, 0.01});
}

TEST(LearningRate, AStepComesAfterEveryStepEpochs) {
  ScheduleSpec schedule;
  schedule.kind = ScheduleKind::kStep;
  schedule.step_epochs = 2;
  schedule.factor = 0.5;
  expect_rates(schedule, 0.8, {0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.1});
}

TEST(LearningRate, CosineGoesFromTheRateToTheMinimum) {
  ScheduleSpec schedule;
  schedule.kind = ScheduleKind::kCosine;
  schedule.minimum = 0.2;
  const double half = 0.2 + 0.8 / 2, tilt = 0.4 * std::sqrt(0.5);
  expect_rates(schedule, 1, {1, half + tilt, half, half - tilt, 0.2});
  expect_rates(schedule, 1, {1});
}

TEST(LearningRate, WarmUpRisesInEqualStepsToTheFullRate) {
  ScheduleSpec schedule;
  schedule.warmup_epochs = 3;
  expect_rates(schedule, 0.8, {0.2, 0.4, 0.6, 0.8, 0.8});
}

/// The schedule begins with the first epoch at the full rate.
TEST(LearningRate, WarmUpComesBeforeTheSchedule) {
  ScheduleSpec schedule;
  schedule.warmup_epochs = 1;
  schedule.kind = ScheduleKind::kStep;
  schedule.step_epochs = 2;
  schedule.factor = 0.1;
  expect_rates(schedule, 1, {0.5, 1, 1, 0.1, 0.1, 0.01});
  schedule.kind = ScheduleKind::kCosine;
  schedule.minimum = 0;
  expect_rates(schedule, 1, {0.5, 1, 0.5, 0});
}

}  // namespace
}  // namespace atl
