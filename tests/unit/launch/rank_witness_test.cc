#include "launch/rank_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace atl {
namespace {

class RankWitness : public testing::Test {
 protected:
  RankWitness() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(RankWitness, ARankThatIsKilledIsNamedAndItsWitnessEndsAsItDid) {
  EXPECT_EXIT(
      {
        leave_witness(3, "server1");
        raise(SIGKILL);
      },
      testing::KilledBySignal(SIGKILL), testing::Eq("atoll: rank 3 on server1: ended by signal 9\n"));
}

TEST_F(RankWitness, ARankThatEndsWellIsSaidTo) {
  EXPECT_EXIT(
      {
        leave_witness(3, "server1");
        _exit(0);
      },
      testing::ExitedWithCode(0), testing::Eq("atoll-rank: 3 on server1 has ended\n"));
}

TEST_F(RankWitness, ARankThatEndsByItselfKeepsItsStatus) {
  EXPECT_EXIT(
      {
        leave_witness(3, "server1");
        _exit(7);
      },
      testing::ExitedWithCode(7), testing::Eq(""));
}

TEST_F(RankWitness, WhatAsksItToStopIsHandedOn) {
  EXPECT_EXIT(
      {
        leave_witness(3, "server1");
        listen_for_stop();
        let_steps_end();
        kill(getppid(), SIGUSR1);
        for (int i = 0; i < 2000 && !stop_requested(); ++i) usleep(10000);
        _exit(stop_requested() ? 7 : 1);
      },
      testing::ExitedWithCode(7), testing::Eq(""));
}

/// Nothing is trained yet that a checkpoint could keep.
TEST_F(RankWitness, ARankThatIsAskedBeforeItTrainsEndsAtOnce) {
  EXPECT_EXIT(
      {
        leave_witness(3, "server1");
        listen_for_stop();
        kill(getppid(), SIGUSR1);
        sleep(20);
        _exit(1);
      },
      testing::ExitedWithCode(130), testing::Eq(""));
}

TEST_F(RankWitness, ARankThatIsAskedBeforeItListensIsNoNews) {
  EXPECT_EXIT(
      {
        leave_witness(3, "server1");
        kill(getppid(), SIGUSR1);
        sleep(20);
        _exit(1);
      },
      testing::ExitedWithCode(130), testing::Eq(""));
}

TEST_F(RankWitness, ARankThatMpirunEndsIsNoNews) {
  EXPECT_EXIT(
      {
        leave_witness(3, "server1");
        kill(getppid(), SIGTERM);
        sleep(20);
        _exit(1);
      },
      testing::KilledBySignal(SIGTERM), testing::Eq(""));
}

TEST_F(RankWitness, ARankDoesNotOutliveItsWitness) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t witness = fork();
  if (witness == 0) {
    leave_witness(3, "server1");
    if (write(ends[1], "", 1) != 1) _exit(1);
    sleep(20);
    _exit(1);
  }
  close(ends[1]);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1) << "the rank has begun";
  kill(witness, SIGKILL);
  pollfd rank{ends[0], POLLIN, 0};
  ASSERT_EQ(poll(&rank, 1, 10000), 1);
  EXPECT_EQ(read(ends[0], &byte, 1), 0) << "its end of the pipe is closed";
  waitpid(witness, nullptr, 0);
  close(ends[0]);
}

}  // namespace
}  // namespace atl
