#include "telemetry/record.h"

#include <gtest/gtest.h>

#include "telemetry/sample_run.h"

namespace atl {
namespace {

double median_of(const std::vector<double>& seconds) {
  std::vector<EpochRecord> epochs;
  for (const double s : seconds) epochs.emplace_back().epoch_seconds = s;
  return median_epoch_seconds(epochs);
}

TEST(Record, MedianOfEpochTimes) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3}), 3);
  EXPECT_EQ(median_of({9, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 9, 2}), 3);
}

/// An epoch, and what came after it.
EpochRecord epoch_before(Index number, bool evaluated, bool saved_before) {
  EpochRecord e;
  e.epoch = number;
  if (evaluated) e.test = 0.5;
  e.own.phases = {{"compute", 1}, {"checkpoint", saved_before ? 0.1 : 0}};
  return e;
}

std::string divergence_of(const std::vector<double>& losses) {
  std::vector<EpochRecord> epochs;
  for (const double loss : losses) epochs.emplace_back().loss = loss;
  return divergence(epochs);
}

TEST(Record, ALossThatEndsFarAboveItsFirstHasDiverged) {
  EXPECT_EQ(divergence_of({1.95, 7, 153.25}),
            "the loss ended at 153.2, far above the 1.95 of the first epoch: training has diverged");
  EXPECT_EQ(divergence_of({1.95, 153, 1.2}), "") << "it came back";
  EXPECT_EQ(divergence_of({1.95, 2.1}), "") << "it merely swings";
  EXPECT_EQ(divergence_of({}), "");
}

TEST(Record, SteadyEpochsFollowAnEpochDirectly) {
  // 3 goes on from a checkpoint; 5 follows an evaluation, 7 a checkpoint.
  const std::vector<EpochRecord> epochs{epoch_before(1, false, false), epoch_before(2, false, false),
                                        epoch_before(3, false, false), epoch_before(4, true, false),
                                        epoch_before(5, false, false), epoch_before(6, false, false),
                                        epoch_before(7, false, true),  epoch_before(8, true, false)};
  std::vector<Index> steady;
  for (const EpochRecord* epoch : steady_epochs(epochs, 2)) steady.push_back(epoch->epoch);
  EXPECT_EQ(steady, (std::vector<Index>{4, 6, 8}));
  EXPECT_TRUE(steady_epochs({}, 0).empty());
}

}  // namespace
}  // namespace atl
