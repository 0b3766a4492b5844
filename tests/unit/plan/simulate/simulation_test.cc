// What of a replay is an epoch.
#include "plan/simulate/simulation.h"

#include <gtest/gtest.h>

#include <vector>

#include "plan/simulate/program.h"

namespace atl {
namespace {

/// Each epoch computes a second and sends for two, and an epoch's rows are waited for at the end of the next one: the first epochs
/// are over before the links are full.
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

}  // namespace
}  // namespace atl
