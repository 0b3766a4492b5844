// The launcher with shell scripts as ranks, under the real mpirun: a lost rank, a lost mpirun, requests to
// stop.
#include "launch/launch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>
#include <csignal>

#include <chrono>
#include <filesystem>

#include "launch/launched_ranks.h"

namespace atl {
namespace {

TEST_F(Launch, EndsWithZeroWhenAllRanksDo) {
  start(2, "echo rank $RANK says hello >&2");
  EXPECT_EQ(wait(), 0);
  EXPECT_THAT(messages(), testing::HasSubstr("rank 1 says hello"));
  EXPECT_THAT(messages(), testing::HasSubstr("reason: \n"));
}

/// As where a host can't be reached: mpirun waits for its daemon.
TEST_F(Launch, AnMpirunThatDoesNotEndAfterARankHasFailedIsKilled) {
  start(2, "[ $RANK = 1 ] && echo 'atoll: rank 1 on n7: no message for 4 s' >&2\n" + std::string(kSleep));
  const pid_t rank = pid_of(0);
  EXPECT_EQ(wait(), 1);
  EXPECT_THAT(messages(), testing::HasSubstr("no message for 4 s\nhung: rank 1\nreason: \n"));
  EXPECT_NE(kill(rank, 0), 0) << "no rank is left";
}

TEST_F(Launch, OneRankNeedsNoMpirun) {
  start(1, "echo rank $RANK parent $PPID >&2; exit 4");
  const pid_t launcher = launcher_;
  EXPECT_EQ(wait(), 4);
  EXPECT_THAT(messages(), testing::HasSubstr("rank 0 parent " + std::to_string(launcher)));
}

TEST_F(Launch, AFailedRanksStatusIsOurs) {
  start(2, std::string("[ $RANK = 1 ] && { echo no such file >&2; exit 3; }\n") + kSleep);
  const auto begin = Clock::now();
  EXPECT_EQ(wait(), 3);
  EXPECT_LT(seconds_since(begin), 10);
  EXPECT_EQ(messages(), "no such file\nreason: \n");
}

TEST_F(Launch, AKilledRankIsNamedAndTheOthersEnd) {
  start(2, kSleep);
  const pid_t first = pid_of(0), second = pid_of(1);
  kill(second, SIGKILL);
  const auto begin = Clock::now();
  EXPECT_EQ(wait(), 128 + SIGKILL);
  EXPECT_LT(seconds_since(begin), 10);
  EXPECT_THAT(messages(), testing::ContainsRegex(
                              "reason: rank 1 on .* was ended by signal 9 \\(Killed; out of memory\\?\\)"));
  EXPECT_FALSE(alive(first));
}

/// As where Open MPI ends a rank at once whose connection to the killed one broke.
TEST_F(Launch, AKilledRankIsNamedThoughMpirunTellsOfAnother) {
  start(2, "if [ $RANK = 1 ]; then echo 'atoll: rank 1 on n8: ended by signal 9' >&2; " +
               std::string(kSleep) + "; fi; sleep 0.5; exit 255");
  EXPECT_EQ(wait(), 128 + SIGKILL);
  EXPECT_EQ(messages(), "reason: rank 1 on n8 was ended by signal 9 (Killed; out of memory?)\n");
}

TEST_F(Launch, AKilledLoneRankIsNamed) {
  start(1, kSleep);
  kill(pid_of(0), SIGSEGV);
  EXPECT_EQ(wait(), 128 + SIGSEGV);
  EXPECT_THAT(messages(),
              testing::ContainsRegex("reason: rank 0 on .* was ended by signal 11 \\(Segmentation fault\\)"));
}

TEST_F(Launch, RanksEndWhenMpirunIsKilledEvenIfTheyDoNotWatchIt) {
  start(2, kSleep);
  const pid_t first = pid_of(0), second = pid_of(1);
  const auto begin = Clock::now();
  kill(parent_of(first), SIGKILL);
  EXPECT_EQ(wait(), 128 + SIGKILL);
  EXPECT_LT(seconds_since(begin), 10);
  EXPECT_THAT(messages(), testing::ContainsRegex("reason: mpirun on .* was ended by signal 9"));
  EXPECT_FALSE(alive(first) || alive(second));
}

TEST_F(Launch, TheFirstStopIsARequest) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    fs::remove(folder_ / "rank0.pid");
    fs::remove(folder_ / "rank1.pid");
    start(2, kSleep, kStoppable);
    pid_of(0), pid_of(1);
    kill(launcher_, signal);
    EXPECT_EQ(wait(), 130);
    const std::string said = messages();
    EXPECT_THAT(said, testing::ContainsRegex("stopped(.|\n)*stopped(.|\n)*reason: \n"));
  }
}

TEST_F(Launch, TheSecondStopKills) {
  start(2, kSleep, kDeaf);
  const pid_t first = pid_of(0), second = pid_of(1);
  kill(launcher_, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(alive(first));
  const auto begin = Clock::now();
  kill(launcher_, SIGINT);
  EXPECT_EQ(wait(), 130);
  EXPECT_LT(seconds_since(begin), 10);
  EXPECT_FALSE(alive(first) || alive(second));
}

/// Its ranks take no notice of it, so that nothing but this tells whoever waits that it has arrived.
TEST_F(Launch, AStopIsToldAtOnceAndOnce) {
  start(2, kSleep, kDeaf);
  const pid_t rank = pid_of(0);
  pid_of(1);
  kill(launcher_, SIGINT);
  for (int i = 0; i < 1000 && messages().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(messages(), "stopping\n");
  EXPECT_TRUE(alive(rank));
  kill(launcher_, SIGINT);
  EXPECT_EQ(wait(), 130);
  EXPECT_EQ(messages(), "stopping\nreason: killed at the second request; the last checkpoint is kept\n");
}

TEST_F(Launch, AHangUpIsNoSecondRequest) {
  start(1, kSleep, kDeaf);
  const pid_t rank = pid_of(0);
  for (const int signal : {SIGHUP, SIGHUP, SIGHUP}) {
    kill(launcher_, signal);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(alive(rank));
  kill(launcher_, SIGINT);
  EXPECT_EQ(wait(), 130);
}

TEST_F(Launch, RanksEndWithTheLauncher) {
  start(1, kSleep);
  const pid_t rank = pid_of(0);
  kill(launcher_, SIGKILL);
  wait();
  for (int i = 0; i < 200 && alive(rank); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(alive(rank));
}

/// Folders whose launcher lives are locked: another test's may be there.
int folders_left_behind() {
  int found = 0;
  for (const auto& entry : fs::directory_iterator("/dev/shm")) {
    if (!entry.path().filename().string().starts_with("atoll-")) continue;
    const int folder = ::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    found += folder >= 0 && ::flock(folder, LOCK_EX | LOCK_NB) == 0;
    ::close(folder);
  }
  return found;
}

TEST_F(Launch, LeavesNothingInMemoryFolders) {
  const int before = folders_left_behind();
  start(2, kSleep);
  kill(parent_of(pid_of(0)), SIGKILL);
  wait();
  EXPECT_LE(folders_left_behind(), before);
}

TEST_F(Launch, AProgramThatIsNotThereIsNamed) {
  LaunchPlan plan;
  plan.program = {"/nowhere/atoll"};
  plan.message = [](const std::string& line) { dprintf(STDERR_FILENO, "%s\n", line.c_str()); };
  EXPECT_EXIT(_exit(launch(plan).status), testing::ExitedWithCode(127),
              testing::Eq("/nowhere/atoll: can't be started: No such file or directory\n"));
}

}  // namespace
}  // namespace atl
