#include "launch/mpirun_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using News = Leaving::News;
constexpr Leaving::Clock::time_point kStart{};

RankState trains(const std::string& host) {
  return {host, {}, false};
}
RankState leaves(const std::string& host, Leaving::Clock::time_point when) {
  return {host, when, false};
}
RankState ended(const std::string& host) {
  return {host, kStart, true};
}

TEST(Leaving, NothingIsDueWhileAllTrain) {
  Leaving leaving(seconds(5));
  const std::map<int, RankState> ranks{{0, trains("n0")}, {1, trains("n1")}};
  for (int at = 0; at < 1000; ++at) EXPECT_EQ(leaving.look(ranks, kStart + seconds(at)), News::kNone);
  EXPECT_FALSE(leaving.is_over());
}

TEST(Leaving, ARankThatOthersHaveEndedWithoutIsToldOfAndThenGivenUp) {
  Leaving leaving(seconds(60));
  const std::map<int, RankState> ranks{{0, ended("n0")}, {1, leaves("n1", kStart)}};
  EXPECT_EQ(leaving.look(ranks, kStart), News::kNone);
  EXPECT_EQ(leaving.look(ranks, kStart + milliseconds(4900)), News::kNone);
  EXPECT_EQ(leaving.look(ranks, kStart + milliseconds(5100)), News::kWorthTelling);
  EXPECT_EQ(leaving.words(), "the run's files are written, but rank 1 on n1 has not ended within 5 s");
  EXPECT_EQ(leaving.look(ranks, kStart + seconds(59)), News::kNone) << "once";
  EXPECT_FALSE(leaving.is_over());
  EXPECT_EQ(leaving.look(ranks, kStart + seconds(60)), News::kOver);
  EXPECT_TRUE(leaving.is_over());
  EXPECT_EQ(leaving.first()->rank, 1);
  EXPECT_EQ(leaving.first()->host, "n1");
  EXPECT_EQ(leaving.words(), "the run's files are written, but rank 1 on n1 has not ended within 60 s");
  EXPECT_EQ(leaving.look(ranks, kStart + seconds(61)), News::kNone) << "once";
}

/// Within MPI_Finalize all wait for one.
TEST(Leaving, OfThoseThatHaveNotEndedWhoeverFellSilentIsNamed) {
  const auto now = kStart + seconds(5);
  std::map<int, RankState> ranks{
      {0, leaves("n0", now)}, {1, leaves("n1", now)}, {2, leaves("n2", kStart)}, {3, trains("n3")}};
  Leaving leaving(seconds(5));
  EXPECT_EQ(leaving.look(ranks, kStart), News::kNone);
  EXPECT_EQ(leaving.look(ranks, now), News::kOver);
  EXPECT_EQ(leaving.words(),
            "the run's files are written, but rank 2 on n2, rank 3 on n3 have not ended within 5 s");
  EXPECT_EQ(leaving.first()->rank, 2);
}

TEST(Leaving, WhereNoneFellSilentAllAreNamedAndWhereAllHaveEndedMpirun) {
  const auto now = kStart + seconds(5);
  Leaving all(seconds(5)), none(seconds(5));
  const std::map<int, RankState> talking{{0, leaves("n0", now)}, {1, leaves("n1", now)}};
  EXPECT_EQ(all.look(talking, kStart), News::kNone);
  EXPECT_EQ(all.look(talking, now), News::kOver);
  EXPECT_THAT(all.words(), testing::HasSubstr("rank 0 on n0, rank 1 on n1 have not ended"));
  const std::map<int, RankState> gone{{0, ended("n0")}, {1, ended("n1")}};
  EXPECT_EQ(none.look(gone, kStart), News::kNone);
  EXPECT_EQ(none.look(gone, now), News::kOver);
  EXPECT_THAT(none.words(), testing::HasSubstr("mpirun has not ended"));
  EXPECT_FALSE(none.first());
}

TEST(Leaving, WithoutPatienceNothingIsDue) {
  Leaving leaving(seconds(0));
  EXPECT_EQ(leaving.look({{0, ended("n0")}}, kStart + seconds(1000)), News::kNone);
}

}  // namespace
}  // namespace atl
