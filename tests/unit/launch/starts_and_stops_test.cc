// Requests to stop while ranks start, and ranks that don't.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <csignal>

#include <cstdlib>

#include "launch/launched_ranks.h"

namespace atl {
namespace {

const std::string kStart = "echo \"atoll-rank: $RANK on n$RANK has started\" >&2\n";
constexpr std::chrono::seconds kLong{300};

/// As where mpirun has nobody to hand it to yet.
TEST_F(Launch, AStopThatIsLostAtFirstIsRepeated) {
  start(2, kStart + "sleep 2; trap 'exit 0' USR1\n" + kSleep, kDeaf, kLong);
  pid_of(0), pid_of(1);
  const auto begin = Clock::now();
  kill(launcher_, SIGTERM);
  EXPECT_EQ(wait(), 130);
  EXPECT_LT(seconds_since(begin), 20) << "the ranks' own end is after 30 s";
}

TEST_F(Launch, AStopEndsAnMpirunNoneOfWhoseRanksHasStarted) {
  start(2, kSleep, "trap '' USR1 TERM", kLong);
  const pid_t first = pid_of(0), second = pid_of(1);
  const auto begin = Clock::now();
  kill(launcher_, SIGTERM);
  EXPECT_EQ(wait(), 130);
  EXPECT_LT(seconds_since(begin), 20);
  EXPECT_FALSE(alive(first) || alive(second));
}

/// By a user's `kill -STOP`, or a debugger's: everything waits, and nobody else says so.
TEST_F(Launch, AnMpirunThatIsPausedIsToldAndStillHandsAStopOn) {
  start(2, std::string(kStoppable) + "\n" + kSleep);
  const pid_t mpirun = parent_of(pid_of(0));
  pid_of(1);
  kill(mpirun, SIGSTOP);
  const std::string words = "mpirun (process " + std::to_string(mpirun) + ") was paused by signal 19";
  for (int i = 0; i < 1000 && messages().find(words) == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_THAT(messages(), testing::HasSubstr(words));
  const auto begin = Clock::now();
  kill(launcher_, SIGTERM);
  EXPECT_EQ(wait(), 130);
  EXPECT_LT(seconds_since(begin), 5);
  EXPECT_THAT(messages(), testing::HasSubstr("reason: \n")) << "the ranks ended by themselves";
}

/// By the supervisor of its pod, before it listens.
TEST_F(Launch, ARankThatSomebodyElseHasAskedToStopIsNotLost) {
  start(2, "[ $RANK = 1 ] && kill -USR1 $$\n" + std::string(kSleep), "", kLong);
  EXPECT_EQ(wait(), 130);
  EXPECT_THAT(messages(), testing::HasSubstr("reason: \n"));
}

TEST_F(Launch, ARankAloneThatSomebodyElseHasAskedToStopIsNotLost) {
  start(1, "kill -USR1 $$\n" + std::string(kSleep));
  EXPECT_EQ(wait(), 130);
  EXPECT_EQ(messages(), "reason: \n");
}

/// As it does on a busy machine, about one time in four.
class AnMpirunThatDoesNotSayWhoWasEnded : public Launch {
 protected:
  void SetUp() override { setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1); }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }
  void end_by(int signal) {
    const fs::path mpirun = folder_ / "mpirun";
    const std::string rule(74, '-');
    std::ofstream(mpirun) << "#!/bin/sh\ncat >&2 <<END\n"
                          << rule << "\nPrimary job  terminated normally, but 1 process returned\n"
                          << "a non-zero exit code. Per user-direction, the job has been aborted.\n"
                          << rule << "\nEND\nexit " << 128 + signal << "\n";
    fs::permissions(mpirun, fs::perms::owner_all);
    start(2, kSleep);
  }
  const std::string path_ = getenv("PATH");
};

TEST_F(AnMpirunThatDoesNotSayWhoWasEnded, IsReadByItsStatus) {
  end_by(SIGKILL);
  EXPECT_EQ(wait(), 137);
  EXPECT_EQ(messages(),
            "reason: a rank was ended by signal 9 (Killed; out of memory?); mpirun does not say which\n");
}

TEST_F(AnMpirunThatDoesNotSayWhoWasEnded, IsNoLossWhereSomebodyElseHasAskedToStop) {
  end_by(SIGUSR1);
  EXPECT_EQ(wait(), 130);
  EXPECT_EQ(messages(), "reason: \n");
}

TEST_F(Launch, RanksThatDoNotStartAreNamed) {
  start(3, "[ $RANK = 1 ] && " + kStart + kSleep, "", std::chrono::seconds(6));
  const pid_t rank = pid_of(0);
  EXPECT_EQ(wait(), 1);
  EXPECT_THAT(messages(), testing::ContainsRegex("reason: mpirun did not start ranks 0, 2: .*ulimit -n"));
  EXPECT_FALSE(alive(rank));
}

TEST_F(Launch, RanksThatHaveStartedMayTakeTheirTime) {
  start(2, kStart + "sleep 3", "", std::chrono::seconds(2));
  EXPECT_EQ(wait(), 0);
}

const std::string kLeaves = "echo \"atoll-rank: $RANK on n$RANK leaves\" >&2\n";

/// As where it hangs behind MPI_Finalize: the others have ended.
TEST_F(Launch, ARankThatDoesNotEndAsTheOthersDoIsNamed) {
  start(3,
        kStart + kLeaves +
            "[ $RANK = 1 ] || { echo \"atoll-rank: $RANK on n$RANK has ended\" >&2; exit 0; }\n" + kSleep,
        "", kLong, std::chrono::seconds(1));
  const pid_t rank = pid_of(1);
  const auto begin = Clock::now();
  EXPECT_EQ(wait(), 1);
  EXPECT_LT(seconds_since(begin), 20) << "the rank's own end is after 30 s";
  EXPECT_EQ(
      messages(),
      "hung: rank 1\nreason: the run's files are written, but rank 1 on n1 has not ended within 1 s, and was killed\n");
  EXPECT_FALSE(alive(rank));
}

TEST_F(Launch, AStopAfterWhichARankDoesNotEndIsOneThatNamesIt) {
  start(2, kStart + kLeaves + "[ $RANK = 1 ] || exit 0\n" + kSleep, kDeaf, kLong, std::chrono::seconds(3));
  pid_of(0), pid_of(1);
  kill(launcher_, SIGTERM);
  EXPECT_EQ(wait(), 130);
  EXPECT_THAT(messages(), testing::HasSubstr("rank 0 on n0, rank 1 on n1 have not ended within 3 s"));
}

TEST_F(Launch, ARankTakesNothingFromALauncherAroundUs) {
  setenv("OMPI_UNIVERSE_SIZE", "4", 1), setenv("OMPI_COMM_WORLD_RANK", "3", 1), setenv("PMIX_RANK", "3", 1);
  start(2, "echo \"rank $RANK\" >&2");
  EXPECT_EQ(wait(), 0);
  EXPECT_THAT(messages(), testing::AllOf(testing::HasSubstr("rank 0"), testing::HasSubstr("rank 1")));
  start(1, "echo \"alone as $RANK, universe $OMPI_UNIVERSE_SIZE.\" >&2");
  EXPECT_EQ(wait(), 0);
  EXPECT_THAT(messages(), testing::HasSubstr("alone as 0, universe .\n"));
  unsetenv("OMPI_UNIVERSE_SIZE"), unsetenv("OMPI_COMM_WORLD_RANK"), unsetenv("PMIX_RANK");
}

}  // namespace
}  // namespace atl
