#include "launch/mpirun_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace atl {
namespace {

const std::string kRule = std::string(74, '-') + "\n";

struct Result {
  std::vector<std::string> lines;
  std::optional<LostRank> lost;
  std::string lost_host;
};

Result read(const std::string& text, std::size_t piece = 1000) {
  Result result;
  MpirunMessages messages([&](const std::string& line) { result.lines.push_back(line); });
  for (std::size_t at = 0; at < text.size(); at += piece)
    messages.add(text.data() + at, std::min(piece, text.size() - at));
  messages.finish();
  result.lost = messages.lost();
  result.lost_host = messages.lost_host();
  return result;
}

const std::string kAborted = kRule +
                             "Primary job  terminated normally, but 1 process returned\n"
                             "a non-zero exit code. Per user-direction, the job has been aborted.\n" +
                             kRule;

TEST(MpirunMessages, ARankThatWasKilledIsAFactNotABox) {
  const std::string text =
      "rank 0: hello\n" + kAborted + kRule +
      "mpirun noticed that process rank 1 with PID 0 on node n7 exited on signal 9 (Killed).\n" + kRule;
  for (std::size_t piece : {1u, 7u, 1000u}) {
    const Result result = read(text, piece);
    EXPECT_THAT(result.lines, testing::ElementsAre("rank 0: hello"));
    ASSERT_TRUE(result.lost);
    EXPECT_EQ(result.lost->rank, 1);
    EXPECT_EQ(result.lost->host, "n7");
    EXPECT_EQ(result.lost->signal, 9);
  }
}

TEST(MpirunMessages, WhatAWitnessSaysOfARankComesFirst) {
  const std::string text = "rank 0: hello\n" + rank_killed(3, "n8", 9) + "\n" + kAborted + kRule +
                           "mpirun noticed that process rank 0 with PID 0 on node n7 exited on signal 6 "
                           "(Aborted).\n" +
                           kRule;
  const Result result = read(text);
  EXPECT_THAT(result.lines, testing::ElementsAre("rank 0: hello"));
  ASSERT_TRUE(result.lost);
  EXPECT_EQ(result.lost->rank, 3);
  EXPECT_EQ(result.lost->host, "n8");
  EXPECT_EQ(result.lost->signal, 9);
}

TEST(MpirunMessages, ARankThatExitedKeepsItsStatus) {
  const Result result =
      read(kAborted + kRule +
           "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
           "the job to be terminated. The first process to do so was:\n\n"
           "  Process name: [[53385,1],2]\n  Exit code:    3\n" +
           kRule);
  EXPECT_THAT(result.lines, testing::IsEmpty());
  ASSERT_TRUE(result.lost);
  EXPECT_EQ(result.lost->rank, 2);
  EXPECT_EQ(result.lost->exit_code, 3);
  EXPECT_EQ(result.lost->signal, 0);
}

TEST(MpirunMessages, AHostThatMpirunLostIsAFact) {
  const std::string lost_host = kRule +
                                "ORTE has lost communication with a remote daemon.\n\n"
                                "  HNP daemon   : [[49737,0],0] on node cora-launcher-1\n"
                                "  Remote daemon: [[49737,0],2] on node 10.244.2.3\n\n"
                                "This is usually due to either a failure of the TCP network\n" +
                                kRule;
  const std::string lost_rank =
      kRule + "mpirun noticed that process rank 1 with PID 0 on node n7 exited on signal 9 (Killed).\n" +
      kRule;
  const Result host_first = read(lost_host + lost_rank);
  EXPECT_THAT(host_first.lines, testing::IsEmpty());
  EXPECT_EQ(host_first.lost_host, "10.244.2.3");
  EXPECT_FALSE(host_first.lost) << "what ranks say afterwards follows from it";
  const Result rank_first = read(lost_rank + lost_host);
  EXPECT_EQ(rank_first.lost_host, "");
  EXPECT_TRUE(rank_first.lost);
}

TEST(MpirunMessages, OtherBoxesAndUnfinishedLinesComeThrough) {
  const Result result =
      read(kRule + "mpirun was unable to launch the specified application\n\nNode: vm\n" + kRule + "last");
  EXPECT_THAT(result.lines, testing::ElementsAre(
                                "atoll: mpirun says:",
                                "mpirun was unable to launch the specified application\n\nNode: vm", "last"));
  EXPECT_FALSE(result.lost);
  EXPECT_THAT(read(kRule + "cut off").lines, testing::ElementsAre("atoll: mpirun says:", "cut off"));
}

TEST(MpirunMessages, ARankThatSaysItFailsIsKnownAtOnce) {
  std::string heard;
  MpirunMessages messages([&](const std::string& line) { heard += line + "\n"; });
  const std::string before = "atoll: warning: rank 0 on server0: no message for 5 s\natoll: rank 7 is here\n";
  messages.add(before.data(), before.size());
  EXPECT_FALSE(messages.failed());
  const std::string words = rank_failure(1, "server1", "no message for 300 s") + "\n" +
                            rank_failure(0, "server0", "no message either") + "\n";
  messages.add(words.data(), words.size());
  ASSERT_TRUE(messages.failed());
  EXPECT_EQ(messages.failed()->rank, 1);
  EXPECT_EQ(messages.failed()->host, "server1");
  EXPECT_EQ(heard, before + words) << "users read it, too";
}

TEST(MpirunMessages, AboveMpirunsOwnWordsStandsALineOfOurs) {
  const std::string text =
      "atoll: rank 0 starts\n[vm:25560] mpirun: SIGPIPE detected on fd 13 - aborting\n[vm:25560] again\natoll: so\n" +
      kRule + "Something unheard of.\n" + kRule + "ssh: Could not resolve hostname x\n";
  EXPECT_THAT(
      read(text).lines,
      testing::ElementsAre("atoll: rank 0 starts",
                           "atoll: mpirun says:", "[vm:25560] mpirun: SIGPIPE detected on fd 13 - aborting",
                           "[vm:25560] again", "atoll: so", "atoll: mpirun says:", "Something unheard of.",
                           "ssh: Could not resolve hostname x"));
}

/// Open MPI 4.1 may crash while it ends, if that is before all ranks have started.
TEST(MpirunMessages, ItsOwnWordsAfterAStopAreLeftOut) {
  std::string heard;
  MpirunMessages messages([&](const std::string& line) { heard += line + "\n"; });
  const std::string before = "[vm:25560] before\n", after = "[vm:25560] Signal: Segmentation fault (11)\n" +
                                                            kRule + "Something unheard of.\n" + kRule +
                                                            "atoll: so\n";
  messages.add(before.data(), before.size());
  messages.stop();
  messages.add(after.data(), after.size());
  EXPECT_EQ(heard, "atoll: mpirun says:\n[vm:25560] before\natoll: so\n");
}

TEST(MpirunMessages, ABoxThatWeKnowIsTurnedIntoWhatToDo) {
  MpirunMessages messages([](const std::string&) {});
  const std::string text = kRule + "ORTE was unable to reliably start one or more\ndaemons.\n" + kRule;
  messages.add(text.data(), text.size());
  messages.finish();
  EXPECT_THAT(messages.trouble(),
              testing::HasSubstr("a host of --hosts can't be reached, or has no Open MPI"));
}

TEST(MpirunMessages, WhatRanksSayOfThemselvesIsForUsAlone) {
  std::vector<std::string> lines;
  MpirunMessages messages([&](const std::string& line) { lines.push_back(line); });
  const std::string text =
      rank_news(3, "n8", RankWord::kStarted) + "\n" + rank_news(0, "n7", RankWord::kStarted) +
      "\natoll-rank: 1 on n7 has started to wonder\natoll-rank: 1 leaves\n" +
      rank_news(3, "n8", RankWord::kLeaves) + "\n" + rank_news(0, "n7", RankWord::kEnded) + "\n";
  messages.add(text.data(), text.size());
  messages.finish();
  EXPECT_EQ(lines,
            (std::vector<std::string>{"atoll-rank: 1 on n7 has started to wonder", "atoll-rank: 1 leaves"}));
  ASSERT_THAT(messages.ranks(), testing::SizeIs(2));
  const RankState &first = messages.ranks().at(0), &last = messages.ranks().at(3);
  EXPECT_TRUE(first.host == "n7" && first.ended && !first.left);
  EXPECT_TRUE(last.host == "n8" && !last.ended && last.left);
}

}  // namespace
}  // namespace atl
