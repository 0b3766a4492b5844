// The part of a replay that counts as an epoch.
#include "simulate/simulation.h"

#include <gtest/gtest.h>

#include <vector>

#include "simulate/program.h"

namespace atl {
namespace {

/// Each epoch computes a second and sends for two, and an epoch's rows are waited for at the end of the next
/// one: the first epochs are over before the links are full.
TEST(Simulation, AnEpochIsAsLongAsItsLinksOnceTheyAreFull) {
  constexpr int kEpochs = 8;
  RecordedStrategy strategy{.label = "late"};
  strategy.recording.epochs = kEpochs;
  for (Rank r = 0; r < 2; ++r) {
    Program program;
    int before = -1;
    for (int e = 1; e <= kEpochs; ++e) {
      program.epoch(e);
      const int now = program.exchange({{1 - r, 2 * kMegabyte}}, {{1 - r, 2 * kMegabyte}});
      program.compute(1);
      if (before >= 0) program.wait(before);
      before = now;
    }
    strategy.recording.ranks.push_back(program.recording());
  }
  const SimulatedRow row = simulate(strategy, servers(2));
  EXPECT_NEAR(row.epoch, 2, kClose);
  EXPECT_NEAR(row.exposed, 1, kClose);
  EXPECT_NEAR(row.free_links, 1, kClose);
}

/// Two batches are made ahead of each step: of the ten that are made, eight are of the epochs that are
/// recorded.
TEST(Simulation, BytesOfBatchesBeyondTheRecordingAreNotCounted) {
  constexpr int kEpochs = 8, kAhead = 2;
  RecordedStrategy strategy{.label = "ahead"};
  strategy.recording.epochs = kEpochs;
  for (Rank r = 0; r < 2; ++r) {
    Program program;
    program.makers(1, kAhead);
    for (int e = 1; e <= kEpochs; ++e) program.epoch(e).take().compute(2);
    for (int batch = 0; batch < kEpochs + kAhead; ++batch) {
      Program made;
      made.wait(made.exchange({{1 - r, kMegabyte}}, {{1 - r, kMegabyte}}, Lane::kPrefetch));
      program.batch(made);
    }
    strategy.recording.ranks.push_back(program.recording());
  }
  const SimulatedRow row = simulate(strategy, servers(2, 2));
  EXPECT_DOUBLE_EQ(row.bytes_between, 2 * kMegabyte) << "one each way, of the batch that an epoch takes";
  EXPECT_EQ(row.bytes_inside, 0);
}

/// The first epoch begins what later ones go on with, and is judged as little as its time is.
TEST(Simulation, BytesAreThoseOfTheEpochsWhoseTimeIsTaken) {
  RecordedStrategy strategy{.label = "filled"};
  strategy.recording.epochs = 4;
  for (Rank r = 0; r < 2; ++r) {
    Program program;
    for (int e = 1; e <= 4; ++e) {
      program.epoch(e);
      for (int i = 0; i < (e == 1 ? 4 : 1); ++i)
        program.wait(program.exchange({{1 - r, kMegabyte}}, {{1 - r, kMegabyte}}));
      program.wait(program.sum(r, 2, 400));
      program.compute(1);
    }
    strategy.recording.ranks.push_back(program.recording());
  }
  EXPECT_DOUBLE_EQ(simulate(strategy, servers(2)).bytes_between, 2 * (kMegabyte + 400));
  Topology one = servers(1);
  one.servers[0].ranks = {0, 1}, one.inside.rate = 1e6;
  EXPECT_DOUBLE_EQ(simulate(strategy, one).bytes_inside, 2 * (kMegabyte + 400));
}

}  // namespace
}  // namespace atl
