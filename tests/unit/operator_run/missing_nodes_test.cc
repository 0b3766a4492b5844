// A node that the operator doesn't see, though pods run on it. One that is deleted is made again by its
// kubelet, or is gone for good; of one that is new, the operator hasn't heard yet.
#include <gmock/gmock.h>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

struct Trains : Stage {
  Trains() {
    cluster.training.seconds = 1000;
    submit("cora");
    run(100, [&] { return state() == "Running"; });
    lost = node_of(cluster.pods.at("cora-1-0"));
  }
  std::string lost;
};

TEST(MissingNodes, OneThatComesBackHasLostNothing) {
  Trains stage;
  stage.api.hidden_nodes = {stage.lost};
  stage.run(35);
  stage.api.hidden_nodes.clear();
  stage.run(60);
  EXPECT_TRUE(stage.status().restarts.empty()) << "its ranks run";
  EXPECT_EQ(stage.state(), "Running");
}

TEST(MissingNodes, OneThatDoesNotIsLost) {
  Trains stage;
  stage.api.hidden_nodes = {stage.lost};
  stage.run(38);
  EXPECT_TRUE(stage.status().restarts.empty());
  stage.run(6);
  ASSERT_EQ(stage.status().restarts.size(), 1U) << "nobody else tells";
  EXPECT_EQ(stage.status().restarts[0].reason, "NodeLost");
}

TEST(MissingNodes, AnOperatorThatHasJustStartedHasMissedNoneYet) {
  Trains stage;
  stage.api.hidden_nodes = {stage.lost};
  stage.run(30);
  stage.start();
  stage.run(30);
  EXPECT_TRUE(stage.status().restarts.empty());
  stage.run(20);
  EXPECT_EQ(stage.status().restarts.size(), 1U);
}

/// As where the watch of nodes was cut while the cluster grew.
TEST(MissingNodes, APreparePodOnOneThatIsNewGoesOn) {
  Stage stage;
  for (const auto& [name, node] : stage.cluster.nodes) stage.api.hidden_nodes.insert(name);
  stage.submit("cora");
  stage.run(30);
  ASSERT_EQ(stage.count("POST pods cora-prepare"), 1);
  stage.api.hidden_nodes.clear();
  stage.run(100, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(stage.state(), "Running");
  EXPECT_EQ(stage.count("POST pods cora-prepare"), 1) << "it was asked to leave";
  EXPECT_TRUE(stage.status().restarts.empty());
}

}  // namespace
}  // namespace atl::ctl
