// Replays of mini-batches that threads make ahead of training, on the cores that the rank has.
#include <gtest/gtest.h>

#include "simulate/program.h"

namespace atl {
namespace {

constexpr int kSteps = 10;

/// A rank that trains for `training` seconds on each batch.
Program trains(double training, int ahead = 2) {
  Program p;
  p.epoch(1).makers(1, ahead);
  for (int step = 0; step < kSteps; ++step) p.take().compute(training);
  return p;
}

TEST(ReplayOfBatches, ASamplerThatIsFasterIsHidden) {
  Program p = trains(1);
  for (int step = 0; step < kSteps; ++step) p.batch(Program().compute(0.5));
  EXPECT_NEAR(ends({p}, servers(1, 2))[0], 0.5 + kSteps, kClose) << "but for the first batch";
}

TEST(ReplayOfBatches, ASamplerThatIsSlowerSetsThePace) {
  Program p = trains(0.4);
  for (int step = 0; step < kSteps; ++step) p.batch(Program().compute(1));
  EXPECT_NEAR(ends({p}, servers(1, 2))[0], kSteps + 0.4, kClose) << "and the last batch is trained on";
}

TEST(ReplayOfBatches, BothShareAnOnlyCore) {
  Program p = trains(1);
  for (int step = 0; step < kSteps; ++step) p.batch(Program().compute(0.5));
  EXPECT_NEAR(ends({p}, servers(1, 1))[0], kSteps * 1.5, kClose);
}

TEST(ReplayOfBatches, WaitingForABatchIsNoCommunication) {
  Program p = trains(0.4);
  for (int step = 0; step < kSteps; ++step) p.batch(Program().compute(1));
  Recording recording;
  recording.ranks.push_back(p.recording());
  const ReplayedEpoch epoch = replay(recording, servers(1, 2)).ranks[0][0];
  EXPECT_NEAR(epoch.without_batch, kSteps * 0.6 + 0.4, kClose);
  EXPECT_EQ(epoch.waited(), 0);
  EXPECT_NEAR(epoch.compute, kSteps * 0.4, kClose);
}

/// One batch takes three steps' time. Begun when the one before is taken, two are missing; begun three steps
/// before, none is.
TEST(ReplayOfBatches, NoMoreAreAheadThanMayBe) {
  const auto end = [](int ahead) {
    Program p = trains(1, ahead);
    for (int step = 0; step < kSteps; ++step) p.batch(Program().compute(step == 6 ? 3 : 0.1));
    return ends({p}, servers(1, 2))[0];
  };
  EXPECT_NEAR(end(1), 0.1 + kSteps + 2, kClose);
  EXPECT_NEAR(end(2), 0.1 + kSteps + 1, kClose);
  EXPECT_NEAR(end(4), 0.1 + kSteps, kClose);
}

TEST(ReplayOfBatches, SeveralMakersMakeOneEach) {
  Program p = trains(0.5, 2);
  p.makers(2, 2);
  for (int step = 0; step < kSteps; ++step) p.batch(Program().compute(1));
  EXPECT_NEAR(ends({p}, servers(1, 3))[0], 1 + kSteps * 0.5, kClose) << "two in a second";
}

/// Begun with the first of ten steps, needed by the batch of the fifth.
Program explains(double seconds) {
  Program p;
  p.epoch(1).makers(1, 2);
  for (int step = 0; step < kSteps; ++step) {
    p.take();
    if (step == 0) p.explain(0);
    p.compute(1);
    Program batch;
    if (step == 4) batch.explained(0);
    p.batch(batch.compute(0.1));
  }
  return p.explanation(Program().compute(seconds));
}

TEST(ReplayOfExplanations, OneThatEndsInTimeIsHiddenOnACoreOfItsOwn) {
  EXPECT_NEAR(ends({explains(2)}, servers(1, 3))[0], 0.1 + kSteps, kClose);
}

TEST(ReplayOfExplanations, OneThatIsLateHoldsUpTheBatchesThatItIsFor) {
  EXPECT_NEAR(ends({explains(6)}, servers(1, 3))[0], 0.1 + 6 + 0.1 + 6, kClose) << "six steps are left then";
}

TEST(ReplayOfExplanations, AnOnlyCoreIsShared) {
  EXPECT_NEAR(ends({explains(2)}, servers(1, 1))[0], kSteps * 1.1 + 2, kClose);
}

/// What a recording's end has cut off isn't waited for.
TEST(ReplayOfExplanations, OneThatWasNotRecordedHoldsUpNobody) {
  Program p;
  p.epoch(1).makers(1, 2).take().compute(1);
  p.batch(Program().explained(3).compute(0.5));
  EXPECT_NEAR(ends({p}, servers(1, 2))[0], 1.5, kClose);
}

TEST(ReplayOfBatches, FetchingTakesTheLink) {
  std::vector<Program> ranks;
  for (Rank r = 0; r < 2; ++r) {
    Program& p = ranks.emplace_back(trains(0.4));
    for (int step = 0; step < kSteps; ++step) {
      Program batch;
      batch.wait(batch.exchange({{1 - r, kMegabyte}}, {{1 - r, kMegabyte}}, Lane::kPrefetch));
      p.batch(batch);
    }
  }
  for (const double end : ends(ranks, servers(2, 2))) EXPECT_NEAR(end, kSteps + 0.4, 5 * kClose);
}

TEST(ReplayOfBatches, ABatchThatIsNeverMadeIsTold) {
  Program p = trains(1);
  Program never;
  never.wait(never.exchange({}, {{1, kMegabyte}}, Lane::kPrefetch));
  p.batch(never);
  for (int step = 1; step < kSteps; ++step) p.batch(Program().compute(1));
  try {
    ends({p, Program().compute(1)}, servers(2, 2));
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 waits for its next batch"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace atl
