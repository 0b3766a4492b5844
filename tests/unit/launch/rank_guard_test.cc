#include "launch/rank_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace atl {
namespace {

using std::chrono::seconds;

TEST(EndUnlessDone, EndsTheProcessWithItsLastWords) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const EndUnlessDone deadline(seconds(0), "rank 1 of 2: MPI did not open", 7);
        std::this_thread::sleep_for(seconds(20));
      },
      testing::ExitedWithCode(7), "rank 1 of 2: MPI did not open");
}

TEST(EndUnlessDone, SaysMeanwhileThatItIsThere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const EndUnlessDone deadline(seconds(2), "the last", 7, "still");
        std::this_thread::sleep_for(seconds(20));
      },
      testing::ExitedWithCode(7), testing::MatchesRegex("still\nstill\n(still\n)*the last\n"));
}

TEST(EndUnlessDone, DoneInTimeItIsAsIfItHadNotBeen) {
  const auto begin = std::chrono::steady_clock::now();
  { const EndUnlessDone deadline(seconds(100), "", 7); }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(20));
}

/// Whoever pauses a run, or holds it in a debugger, for longer than the time-out can go on with it.
TEST(EndUnlessDone, TimeInWhichTheProcessIsPausedDoesNotCount) {
  const pid_t paused = fork();
  if (paused == 0) {
    const EndUnlessDone deadline(seconds(2), "too late", 7);
    raise(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    _exit(0);
  }
  int state = 0;
  ASSERT_EQ(waitpid(paused, &state, WUNTRACED), paused);
  ASSERT_TRUE(WIFSTOPPED(state)) << state;
  std::this_thread::sleep_for(seconds(3));
  kill(paused, SIGCONT);
  ASSERT_EQ(waitpid(paused, &state, 0), paused);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << state;
}

}  // namespace
}  // namespace atl
