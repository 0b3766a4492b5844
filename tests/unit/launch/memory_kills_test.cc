#include "launch/supervisor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace atl {
namespace {

using std::chrono::seconds;
constexpr MemoryKills::Clock::time_point kStart{};

/// Three ranks. At moments, which pass with each reading of the world, the kernel counts a kill, or a process
/// is gone.
struct World {
  struct Change {
    int moment;
    int kills;   // more of them
    pid_t gone;  // 0: nobody
  };
  std::vector<Change> changes;
  int moment = 0;
  long kills = 5;
  MemoryKills::Ranks ranks{{101, 0}, {102, 1}, {103, 2}};

  void pass() {
    for (const Change& each : changes) {
      if (each.moment != moment) continue;
      kills += each.kills;
      ranks.erase(each.gone);
    }
    ++moment;
  }
  MemoryKills watched() {
    return {[this] { return pass(), ranks; }, [this] { return pass(), std::optional(kills); }};
  }
};

/// A supervisor whose look at the processes takes long, as on a busy machine, may be between any two of the
/// kernel's steps.
TEST(MemoryKills, ARankIsNamedWheneverItIsKilled) {
  constexpr int kSeen = 2;  // once the first look has seen the rank
  for (int counted = 1; counted < 12; ++counted)
    for (int gone = std::max(counted, kSeen); gone < counted + 8; ++gone) {
      World world{{{counted, 1, 0}, {gone, 0, 102}}};
      MemoryKills kills = world.watched();
      std::optional<Rank> named;
      for (int look = 0; look < 20 && !named; ++look) named = kills.killed_rank(kStart + seconds(look));
      EXPECT_EQ(named, Rank(1)) << "counted at " << counted << ", gone at " << gone;
    }
}

TEST(MemoryKills, ARankThatEndsIsNotKilled) {
  World world{{{4, 0, 101}, {7, 0, 103}}};
  MemoryKills kills = world.watched();
  for (int look = 0; look < 20; ++look) EXPECT_FALSE(kills.killed_rank(kStart + seconds(look)));
}

/// A data loader was killed; the run goes on, and its ranks end an hour later.
TEST(MemoryKills, AKillOfSomebodyElseIsForgotten) {
  World world{{{4, 1, 0}, {200, 0, 101}, {300, 1, 0}, {303, 0, 103}}};
  MemoryKills kills = world.watched();
  std::optional<Rank> named;
  for (int look = 0; look < 140; ++look) EXPECT_FALSE(kills.killed_rank(kStart + seconds(look)));
  for (int look = 140; look < 160 && !named; ++look) named = kills.killed_rank(kStart + seconds(look));
  EXPECT_EQ(named, Rank(2)) << "of the next kill";
}

TEST(MemoryKills, WhereTheKernelDoesNotTellNobodyIsNamed) {
  World world{{{4, 0, 101}}};
  MemoryKills kills([&] { return world.pass(), world.ranks; }, [] { return std::optional<long>(); });
  for (int look = 0; look < 9; ++look) EXPECT_FALSE(kills.killed_rank(kStart + seconds(look)));
}

}  // namespace
}  // namespace atl
