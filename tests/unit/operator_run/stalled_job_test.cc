// A job that doesn't advance is restarted, and its status names the rank that the others waited for.
#include <gtest/gtest.h>

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
  void says(const std::string& pod, const std::string& ranks) {
    const std::string ip = cluster.pods.at(pod).at("status").at("podIP");
    pages["http://" + ip + ":9400"] =
        ranks.empty() ? "" : R"({"epoch": 7, "epochs": 200, "ranks": [)" + ranks + "]}";
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
