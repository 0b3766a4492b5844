// A job that doesn't advance is restarted, and its status names the rank that the others waited for. A silent
// job is left alone, and its status says so.
#include <gmock/gmock.h>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

/// A job whose ranks 0 and 1, and 2 and 3, share servers, trains for long; servers say what they are told to.
struct LongRun : Stage {
  LongRun() {
    cluster.training.seconds = 1000;
    submit("cora", {{"/spec/runPolicy", {{"progressDeadlineSeconds", 60}}}});
    run(100, [&] { return state() == "Running"; });
  }
  void says(const std::string& pod, const std::string& ranks, int epoch = 7, int step = -1) {
    const std::string ip = cluster.pods.at(pod).at("status").at("podIP");
    pages["http://" + ip + ":9400"] =
        ranks.empty() ? ""
                      : R"({"epoch": )" + std::to_string(epoch) +
                            (step < 0 ? "" : R"(, "steps": 1000, "step": )" + std::to_string(step)) +
                            R"(, "epochs": 200, "ranks": [)" + ranks + "]}";
  }
  void fall_silent() {
    for (auto& [address, page] : pages) page.clear();
  }
  Restart restarted() {
    run(90, [&] { return !status().restarts.empty(); });
    return status().restarts.empty() ? Restart{} : status().restarts.back();
  }
};

TEST(StalledJob, NamesTheRankThatTheOthersWaitFor) {
  LongRun stage;
  stage.says("cora-0-0", R"({"rank": 0, "answers": true, "waitingFor": [1]},
                            {"rank": 1, "answers": true, "waitingFor": [2]})");
  stage.says("cora-1-0", R"({"rank": 2, "answers": true, "waitingFor": [3]}, {"rank": 3, "answers": false})");
  const Restart restart = stage.restarted();
  EXPECT_EQ(restart.reason, "Stalled");
  EXPECT_EQ(restart.culprit.rank, 3);
  EXPECT_EQ(restart.culprit.pod, "cora-1-0");
}

TEST(StalledJob, NamesRankZeroWhereItFallsSilent) {
  LongRun stage;
  stage.says("cora-0-0", R"({"rank": 0, "answers": true, "waitingFor": []})");
  stage.says("cora-1-0", R"({"rank": 2, "answers": true, "waitingFor": [0]},
                            {"rank": 3, "answers": true, "waitingFor": [2]})");
  stage.run(7);
  stage.says("cora-0-0", "");
  const Restart restart = stage.restarted();
  EXPECT_EQ(restart.reason, "Stalled");
  EXPECT_EQ(restart.culprit.rank, 0);
  EXPECT_EQ(restart.culprit.pod, "cora-0-0");
}

const std::string kServer0 = R"({"rank": 0, "answers": true, "waitingFor": []})",
                  kServer1 = R"({"rank": 2, "answers": true, "waitingFor": [0]})";

TEST(StalledJob, IsNotOneWhoseEpochsHaveManySteps) {
  LongRun stage;
  for (int step = 1; step <= 10; ++step) {
    stage.says("cora-0-0", kServer0, 7, step);
    stage.run(20);
  }
  EXPECT_THAT(stage.status().restarts, testing::IsEmpty()) << "its epoch goes on";
  EXPECT_EQ(stage.restarted().reason, "Stalled") << "no step ends any more";
}

TEST(StalledJob, IsNotOneOfWhichNothingIsHeard) {
  LongRun stage;
  stage.says("cora-0-0", kServer0);
  stage.says("cora-1-0", kServer1);
  stage.run(12);
  stage.fall_silent();
  stage.run(3 * 60 + 10);
  EXPECT_THAT(stage.status().restarts, testing::IsEmpty()) << "it may be our ears";
  EXPECT_EQ(stage.state(), "Running");
  EXPECT_EQ(stage.reason(kRunning), "Unheard");
  stage.says("cora-0-0", kServer0, 90);
  stage.run(7);
  EXPECT_EQ(stage.reason(kRunning), "Training");
  EXPECT_EQ(stage.status().progress.epoch, 90);
  EXPECT_EQ(stage.restarted().reason, "Stalled") << "it is heard again, and doesn't advance";
}

TEST(StalledJob, IsNotOneWhoseRankZeroAloneIsSilent) {
  LongRun stage;
  stage.says("cora-0-0", kServer0);
  stage.run(7);
  stage.says("cora-0-0", "");
  for (int epoch = 8; epoch < 28; ++epoch) {
    stage.says("cora-1-0", R"({"rank": 2, "answers": true, "waitingFor": []})", epoch);
    stage.run(10);
  }
  EXPECT_THAT(stage.status().restarts, testing::IsEmpty());
  EXPECT_EQ(stage.reason(kRunning), "Training");
  stage.run(30);
  EXPECT_EQ(stage.status().progress.epoch, 27);
}

TEST(StalledJob, IsNotSavedByServersThatTakeTurnsInAnswering) {
  LongRun stage;
  for (int turns = 0; turns < 20 && stage.status().restarts.empty(); ++turns) {
    stage.says("cora-0-0", turns % 2 ? "" : kServer0, 7);
    stage.says("cora-1-0", kServer1, 8);
    stage.run(5);
  }
  ASSERT_FALSE(stage.status().restarts.empty()) << "one is an epoch ahead of the other, and both stand";
  EXPECT_EQ(stage.status().restarts.back().reason, "Stalled");
}

TEST(StalledJob, IsFoundInTimeThoughTheOperatorWasRestarted) {
  for (const char* of_server_0 : {kServer0.c_str(), ""}) {
    LongRun stage;
    stage.says("cora-0-0", kServer0);
    stage.says("cora-1-0", kServer1);
    stage.run(7);
    const Moment begin = stage.cluster.now;
    for (int restarts = 0; restarts < 3; ++restarts) {
      stage.says("cora-0-0", of_server_0);
      stage.run(15);
      stage.start();
    }
    stage.run(90, [&] { return !stage.status().restarts.empty(); });
    ASSERT_FALSE(stage.status().restarts.empty());
    EXPECT_EQ(stage.status().restarts.back().reason, "Stalled");
    EXPECT_EQ(stage.status().restarts.back().culprit.rank, 0);
    EXPECT_LE(stage.status().restarts.back().time - begin, Seconds(60 + 6)) << "the deadline and a poll";
  }
}

TEST(StalledJob, IsSaidToBeUnheardByTheNextOperatorToo) {
  LongRun stage;
  stage.says("cora-0-0", kServer0);
  stage.run(7);
  stage.fall_silent();
  stage.run(70);
  const auto before = stage.count("PATCH gnnjobs cora");
  for (int restarts = 0; restarts < 3; ++restarts) {
    stage.start();
    stage.run(100);
    EXPECT_EQ(stage.reason(kRunning), "Unheard");
  }
  EXPECT_EQ(stage.count("PATCH gnnjobs cora"), before) << "and written once";
}

TEST(StalledJob, IsNotTheKubeletsAloneToGiveUp) {
  LongRun stage;
  stage.says("cora-0-0", R"({"rank": 0, "answers": true, "waitingFor": []})");
  stage.says("cora-1-0", R"({"rank": 2, "answers": true, "waitingFor": []})");
  stage.run(7);
  const std::string node = node_of(stage.cluster.pods.at("cora-1-0"));
  stage.says("cora-1-0", "");
  stage.says("cora-0-0", R"({"rank": 0, "answers": true, "waitingFor": [2]})");
  stage.run(7);
  stage.cluster.nodes.at(node).is_dead = true;
  stage.cluster.nodes.at(node).since = stage.cluster.now;
  stage.cluster.is_changed = true;
  stage.run(10, [&] { return !stage.status().restarts.empty(); });
  ASSERT_FALSE(stage.status().restarts.empty()) << "sooner than the toleration of 30 s";
  EXPECT_EQ(stage.status().restarts.back().reason, "NodeLost");
  EXPECT_EQ(stage.status().restarts.back().culprit.node, node);
}

}  // namespace
}  // namespace atl::ctl
