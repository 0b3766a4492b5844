// Single decisions about silent nodes and servers: how long the operator waits for them.
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using testing::IsEmpty;

using DecideSilence = Decide;

TEST_F(DecideSilence, ALostServerIsWaitedForUntilItsNodesFateIsKnown) {
  train();
  const std::string node = node_of(world.cluster.pods.at("cora-1-0"));
  world.cluster.end_pod(
      "cora-launcher-1", 1, "Error",
      R"({"status":1,"culprit":{"rank":2,"pod":"cora-1-0","node":")" + node + R"(","answers":false}})");
  world.atoll.run(5);
  const Status waiting = world.atoll.status();
  EXPECT_THAT(waiting.restarts, IsEmpty()) << "the node is still called ready";
  EXPECT_EQ(find_condition(waiting.conditions, kRunning)->reason, "Lost");
  EXPECT_EQ(waiting.attempt, 1);

  const Decision dead = decide_on([&](Observed& seen) { seen.nodes.at(node) = {false, seen.now, {}}; });
  ASSERT_EQ(dead.status->restarts.size(), 1U);
  EXPECT_EQ(dead.status->restarts[0].reason, "NodeLost");
  EXPECT_EQ(dead.status->restarts[0].culprit, (Culprit{2, "", "cora-1-0", node}));

  const Decision patient = decide_on([](Observed& seen) { seen.now += Seconds(60); });
  ASSERT_EQ(patient.status->restarts.size(), 1U);
  EXPECT_EQ(patient.status->restarts[0].reason, "Lost");
  EXPECT_EQ(patient.status->failures, 0);
}

TEST_F(DecideSilence, AServerThatLauncherAndKubeletHaveLostIsReplacedWithoutPatience) {
  train();
  const std::string node = node_of(world.cluster.pods.at("cora-1-0"));
  world.kill_node(node);
  world.cluster.end_pod(
      "cora-launcher-1", 1, "Error",
      R"({"status":1,"culprit":{"rank":2,"pod":"cora-1-0","node":")" + node + R"(","answers":false}})");
  world.atoll.run(10);
  ASSERT_TRUE(world.cluster.pods.contains("cora-1-1")) << "sooner than the toleration of 30 s";
  EXPECT_NE(node_of(world.cluster.pods.at("cora-1-1")), node);
  world.run_to_end();
  expect_success(world);
}

TEST_F(DecideSilence, AKubeletsSilenceAloneIsTolerated) {
  train();
  const std::string node = node_of(world.cluster.pods.at("cora-1-0"));
  const auto silent_for = [&](int seconds) {
    return decide_on([&](Observed& seen) { seen.nodes.at(node) = {false, seen.now - Seconds(seconds), {}}; });
  };
  EXPECT_FALSE(silent_for(29).status) << "its ranks may run on";
  const Decision decision = silent_for(30);
  ASSERT_TRUE(decision.status);
  EXPECT_EQ(decision.status->restarts.at(0).reason, "NodeLost");
}

TEST_F(DecideSilence, ASilentNodeThatRanksWaitForIsNotTolerated) {
  train();
  const std::string node = node_of_pod("cora-1-0");
  const auto dead = [&](bool is_kubelet_silent, Rank waited_for, bool is_silent_to_us) {
    return decide_on([&](Observed& seen) {
      if (is_kubelet_silent) seen.nodes.at(node) = {false, seen.now, {}};
      if (is_silent_to_us) seen.silent_rank = waited_for;
    });
  };
  EXPECT_FALSE(dead(false, 2, true).status) << "its kubelet says that it is well";
  EXPECT_FALSE(dead(true, 2, false).status) << "the rank may be slow: its server answers";
  EXPECT_FALSE(dead(true, 1, true).status) << "they wait for another";
  const Decision decision = dead(true, 2, true);
  ASSERT_TRUE(decision.status);
  EXPECT_EQ(decision.status->restarts.at(0).reason, "NodeLost");
  EXPECT_EQ(decision.status->restarts.at(0).culprit.node, node);
}

TEST_F(DecideSilence, ALaunchersNodeThatRanksWaitForIsNotToleratedEither) {
  train();
  const std::string node = node_of_pod("cora-launcher-1");
  ASSERT_EQ(node, node_of_pod("cora-0-0"));
  world.kill_node(node);
  world.atoll.add = [](Observed& seen) {
    if (seen.job.status.attempt == 1) seen.silent_rank = 0;
  };
  world.atoll.run(8);
  EXPECT_EQ(world.atoll.status().attempt, 2) << "sooner than the toleration of 30 s";
  world.run_to_end();
  expect_success(world);
}

}  // namespace
}  // namespace atl::ctl
